//! Local-tx-monitor. pallas has a client of it and the messages of both sides, no server: its loop is here.

use pallas_network::miniprotocols::PROTOCOL_N2C_TX_MONITOR;
use pallas_network::miniprotocols::txmonitor::{Client, Message};
use pallas_network::multiplexer::{AgentChannel, ChannelBuffer};

use crate::{
    Outcome, Upstream,
    connection::{Running, dial},
};

pub async fn relay(channel: AgentChannel, node: Upstream) -> Outcome {
    let mut server = ChannelBuffer::new(channel);
    let mut held: Option<(Running, Client)> = None;
    loop {
        let asked: Message = server.recv_full_msg().await?;
        if let (Message::Acquire, None) = (&asked, &held) {
            let (guard, channel) = dial(&node, PROTOCOL_N2C_TX_MONITOR).await?;
            held = Some((guard, Client::new(channel)));
        }
        // pallas' client refuses to send what releases a snapshot: its connection goes with it
        match asked {
            Message::Release => {
                held = None;
                continue;
            }
            Message::Done => return Ok(()),
            _ => {}
        }
        let Some((_, client)) = &mut held else {
            return Err("no snapshot is held".into());
        };
        let answer = match asked {
            Message::Acquire => Message::Acquired(client.acquire().await?),
            Message::RequestNextTx => Message::ResponseNextTx(client.query_next_tx().await?),
            Message::RequestHasTx(id) => Message::ResponseHasTx(client.query_has_tx(id).await?),
            Message::RequestSizeAndCapacity => {
                Message::ResponseSizeAndCapacity(client.query_size_and_capacity().await?)
            }
            other => return Err(format!("no question: {other:?}").into()),
        };
        server.send_msg_chunks(&answer).await?;
    }
}
