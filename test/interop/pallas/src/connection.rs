//! Connections of both sides: a multiplexer, a handshake, and a channel for each protocol.

use std::time::Duration;

use pallas_network::miniprotocols::handshake::{Confirmation, N2CClient, N2CServer, n2c::VersionTable};
use pallas_network::miniprotocols::{
    PROTOCOL_N2C_CHAIN_SYNC, PROTOCOL_N2C_HANDSHAKE, PROTOCOL_N2C_STATE_QUERY, PROTOCOL_N2C_TX_MONITOR,
    PROTOCOL_N2C_TX_SUBMISSION,
};
use pallas_network::multiplexer::{AgentChannel, Bearer, Plexer, RunningPlexer};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{Failure, Outcome, Upstream, chain, mempool, say, states, submission};

/// Ends a multiplexer with its last user; on their own its tasks never end.
pub struct Running(Option<RunningPlexer>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(plexer) = self.0.take() {
            tokio::spawn(plexer.abort());
        }
    }
}

fn running(plexer: Plexer) -> Running {
    Running(Some(plexer.spawn()))
}

/// A connection to the node, with the channel of one protocol.
pub async fn dial(node: &Upstream, protocol: u16) -> Result<(Running, AgentChannel), Failure> {
    let mut plexer = Plexer::new(Bearer::connect_unix(&node.path).await?);
    let mut handshake = N2CClient::new(plexer.subscribe_client(PROTOCOL_N2C_HANDSHAKE));
    let channel = plexer.subscribe_client(protocol);
    let guard = running(plexer);
    match handshake.handshake(VersionTable::v10_and_above(node.magic)).await? {
        Confirmation::Accepted(version, _) => {
            say(json!({ "event": "version", "version": version & 0x7fff }));
            Ok((guard, channel))
        }
        other => Err(format!("the node does not welcome: {other:?}").into()),
    }
}

/// Serves a client until it or one of its protocols ends with a failure.
pub async fn serve(bearer: Bearer, node: Upstream) -> Outcome {
    let mut plexer = Plexer::new(bearer);
    let mut handshake = N2CServer::new(plexer.subscribe_server(PROTOCOL_N2C_HANDSHAKE));
    let mut chain = plexer.subscribe_server(PROTOCOL_N2C_CHAIN_SYNC);
    let states = plexer.subscribe_server(PROTOCOL_N2C_STATE_QUERY);
    let submission = plexer.subscribe_server(PROTOCOL_N2C_TX_SUBMISSION);
    let monitor = plexer.subscribe_server(PROTOCOL_N2C_TX_MONITOR);
    let _guard = running(plexer);
    if handshake
        .handshake(VersionTable::v10_and_above(node.magic))
        .await?
        .is_none()
    {
        // what is written is lost with the multiplexer: the client is to hang up first
        let _ = tokio::time::timeout(Duration::from_secs(1), chain.dequeue_chunk()).await;
        return Err("the client's versions were refused".into());
    }
    let mut protocols = JoinSet::new();
    protocols.spawn(chain::relay(chain, node.clone()));
    protocols.spawn(states::relay(states, node.clone()));
    protocols.spawn(submission::relay(submission, node.clone()));
    protocols.spawn(mempool::relay(monitor, node));
    while let Some(ended) = protocols.join_next().await {
        ended??;
    }
    Ok(())
}
