//! The methods of utxorpc's clients: a request and its answers in protobuf's JSON, `take` messages of a stream.

use serde_json::{Value, json};
use utxorpc::spec::{query, submit, sync, watch};
use utxorpc::{CardanoQueryClient, CardanoSubmitClient, CardanoSyncClient, CardanoWatchClient, ClientBuilder};

use crate::Answer;

macro_rules! unary {
    ($client:expr, $method:ident, $request:ty, $args:expr) => {{
        let request: $request = serde_json::from_value(request_of($args))?;
        Ok(serde_json::to_value($client.inner.$method(request).await?.into_inner())?)
    }};
}

macro_rules! stream {
    ($client:expr, $method:ident, $request:ty, $args:expr) => {{
        let request: $request = serde_json::from_value(request_of($args))?;
        let mut messages = $client.inner.$method(request).await?.into_inner();
        let mut taken = Vec::new();
        while taken.len() < $args["take"].as_u64().unwrap_or(1) as usize {
            match messages.message().await? {
                Some(message) => taken.push(serde_json::to_value(message)?),
                None => break,
            }
        }
        Ok(json!(taken))
    }};
}

fn request_of(args: &Value) -> Value {
    if args["request"].is_null() { json!({}) } else { args["request"].clone() }
}

pub async fn call(url: &str, name: &str, args: &Value) -> Answer {
    let builder = ClientBuilder::new().uri(url)?;
    let mut queries: CardanoQueryClient = builder.build().await;
    let mut submissions: CardanoSubmitClient = builder.build().await;
    let mut chain: CardanoSyncClient = builder.build().await;
    let mut watches: CardanoWatchClient = builder.build().await;
    match name {
        "ReadParams" => unary!(queries, read_params, query::ReadParamsRequest, args),
        "ReadUtxos" => unary!(queries, read_utxos, query::ReadUtxosRequest, args),
        "SearchUtxos" => unary!(queries, search_utxos, query::SearchUtxosRequest, args),
        "ReadData" => unary!(queries, read_data, query::ReadDataRequest, args),
        "ReadTx" => unary!(queries, read_tx, query::ReadTxRequest, args),
        "ReadGenesis" => unary!(queries, read_genesis, query::ReadGenesisRequest, args),
        "ReadEraSummary" => unary!(queries, read_era_summary, query::ReadEraSummaryRequest, args),
        "EvalTx" => unary!(submissions, eval_tx, submit::EvalTxRequest, args),
        "SubmitTx" => unary!(submissions, submit_tx, submit::SubmitTxRequest, args),
        "ReadMempool" => unary!(submissions, read_mempool, submit::ReadMempoolRequest, args),
        "WaitForTx" => stream!(submissions, wait_for_tx, submit::WaitForTxRequest, args),
        "WatchMempool" => stream!(submissions, watch_mempool, submit::WatchMempoolRequest, args),
        "ReadTip" => unary!(chain, read_tip, sync::ReadTipRequest, args),
        "FetchBlock" => unary!(chain, fetch_block, sync::FetchBlockRequest, args),
        "DumpHistory" => unary!(chain, dump_history, sync::DumpHistoryRequest, args),
        "FollowTip" => stream!(chain, follow_tip, sync::FollowTipRequest, args),
        "WatchTx" => stream!(watches, watch_tx, watch::WatchTxRequest, args),
        _ => Err(format!("no method {name}").into()),
    }
}
