//! Chain-sync: blocks are passed on as they are, and what pallas reads in them is told.

use pallas_network::miniprotocols::PROTOCOL_N2C_CHAIN_SYNC;
use pallas_network::miniprotocols::chainsync::{ClientRequest, N2CClient, N2CServer, NextResponse};
use pallas_network::multiplexer::AgentChannel;
use pallas_traverse::MultiEraBlock;
use serde_json::{Value, json};

use crate::{Outcome, Upstream, connection::dial, say};

pub async fn relay(channel: AgentChannel, node: Upstream) -> Outcome {
    let mut server = N2CServer::new(channel);
    let Some(mut request) = server.recv_while_idle().await? else {
        return Ok(());
    };
    let (_guard, channel) = dial(&node, PROTOCOL_N2C_CHAIN_SYNC).await?;
    let mut client = N2CClient::new(channel);
    loop {
        match request {
            ClientRequest::Intersect(points) => match client.find_intersect(points).await? {
                (Some(point), tip) => server.send_intersect_found(point, tip).await?,
                (None, tip) => server.send_intersect_not_found(tip).await?,
            },
            ClientRequest::RequestNext => {
                let mut next = client.request_next().await?;
                if let NextResponse::Await = next {
                    say(json!({ "event": "await" }));
                    server.send_await_reply().await?;
                    next = client.recv_while_must_reply().await?;
                }
                match next {
                    NextResponse::RollForward(block, tip) => {
                        say(read(&block));
                        server.send_roll_forward(block, tip).await?;
                    }
                    NextResponse::RollBackward(point, tip) => server.send_roll_backward(point, tip).await?,
                    NextResponse::Await => return Err("the node lets wait twice".into()),
                }
            }
        }
        match server.recv_while_idle().await? {
            Some(next) => request = next,
            None => return Ok(()),
        }
    }
}

fn read(bytes: &[u8]) -> Value {
    match MultiEraBlock::decode(bytes) {
        Ok(block) => json!({
            "event": "block",
            "slot": block.slot(),
            "height": block.number(),
            "hash": block.hash().to_string(),
            "previous": block.header().previous_hash().map(|hash| hash.to_string()).unwrap_or_default(),
            "transactions": block.tx_count(),
            "ids": block.txs().iter().map(|transaction| transaction.hash().to_string()).collect::<Vec<_>>(),
        }),
        Err(error) => json!({ "event": "block", "error": error.to_string() }),
    }
}
