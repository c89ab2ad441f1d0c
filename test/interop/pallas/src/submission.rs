//! Local-tx-submission: the transaction and the refusal are read by pallas, the refusal is re-encoded by it.

use pallas_codec::minicbor::{self, Decode, Decoder, Encode, Encoder};
use pallas_codec::utils::AnyCbor;
use pallas_network::miniprotocols::PROTOCOL_N2C_TX_SUBMISSION;
use pallas_network::miniprotocols::localtxsubmission::{
    EraTx, GenericClient, GenericServer, Request, Response, TxValidationError,
};
use pallas_network::multiplexer::AgentChannel;
use pallas_traverse::{Era, MultiEraTx};
use serde_json::{Value, json};

use crate::{Outcome, Upstream, connection::dial, say};

/// A refusal as its bytes, so that one that pallas cannot read is passed on nevertheless.
struct Reason(AnyCbor);

impl<C> Encode<C> for Reason {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        self.0.encode(e, ctx)
    }
}

impl<'b, C> Decode<'b, C> for Reason {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        AnyCbor::decode(d, ctx).map(Reason)
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Reason(AnyCbor::from_encode(text))
    }
}

pub async fn relay(channel: AgentChannel, node: Upstream) -> Outcome {
    let mut server = GenericServer::<EraTx, Reason>::new(channel);
    let Request::Submit(mut transaction) = server.recv_next_request().await? else {
        return Ok(());
    };
    let (_guard, channel) = dial(&node, PROTOCOL_N2C_TX_SUBMISSION).await?;
    let mut client = GenericClient::<EraTx, Reason>::new(channel);
    loop {
        let mut line = read(&transaction);
        let verdict = match client.submit_tx(transaction).await? {
            Response::Accepted => Response::Accepted,
            Response::Rejected(Reason(reason)) => {
                line["node"] = hex::encode(reason.raw_bytes()).into();
                let told = match reason.clone().into_decode::<TxValidationError>() {
                    Ok(read @ TxValidationError::ShelleyTxValidationError { .. }) => {
                        line["reason"] = format!("{read:?}").into();
                        anew(&read, &reason).unwrap_or_else(|| {
                            line["unwritten"] = true.into();
                            reason
                        })
                    }
                    Ok(other) => return Err(format!("no refusal of this era: {other:?}").into()),
                    Err(error) => {
                        line["unread"] = error.to_string().into();
                        reason
                    }
                };
                Response::Rejected(Reason(told))
            }
        };
        say(line);
        server.send_submit_tx_response(verdict).await?;
        match server.recv_next_request().await? {
            Request::Submit(next) => transaction = next,
            Request::Done => return Ok(()),
        }
    }
}

/// A refusal as pallas writes it. Of some kinds it counts the members of a list wrongly, which ends the client's connection: it is let pass
/// only where it says the same as the node.
fn anew(refusal: &TxValidationError, reason: &AnyCbor) -> Option<AnyCbor> {
    let TxValidationError::ShelleyTxValidationError { error, era } = refusal else {
        return None;
    };
    // its own encoder of the outermost shape leaves a list out
    let written = AnyCbor::from_encode(((era, error),));
    (written == *reason).then_some(written)
}

fn read(EraTx(era, bytes): &EraTx) -> Value {
    let mut line = json!({ "event": "verdict", "bytes": bytes.len(), "redeemers": 0 });
    // the protocol counts eras from Byron on, without its boundary blocks
    let read = Era::try_from(era + 1)
        .map_err(|error| error.to_string())
        .and_then(|era| MultiEraTx::decode_for_era(era, bytes).map_err(|error| error.to_string()));
    match read {
        Ok(transaction) => {
            line["hash"] = transaction.hash().to_string().into();
            line["redeemers"] = transaction.redeemers().len().into();
        }
        Err(error) => line["error"] = error.into(),
    }
    line
}
