//! The functions of ogmios-client, each over a connection of its own.

use ogmios_client::chain_synchronization::{find_intersection, next_block};
use ogmios_client::connection::{ConnectionConfig, InteractionContextOptions, create_interaction_context};
use ogmios_client::ledger_state_query::LedgerStateQueryClient;
use ogmios_client::mempool_monitoring::MempoolMonitoringClient;
use ogmios_client::schema::Point;
use ogmios_client::schema::responses::NextBlockResponse;
use ogmios_client::server_health::get_server_health;
use ogmios_client::transaction_submission::TransactionSubmissionClient;
use serde_json::{Value, json};

use crate::{Answer, text};

pub async fn call(port: u16, name: &str, args: &Value) -> Answer {
    let at = ConnectionConfig::new("127.0.0.1", port);
    match name {
        "health" => {
            let health = get_server_health(Some(at)).await?;
            Ok(json!({
                "synchronization": health.network_synchronization,
                "version": health.version,
                "tip": health.last_known_tip,
            }))
        }
        "chain" => chain(at, args["count"].as_u64().unwrap_or(1)).await,
        "submit" => {
            let client = TransactionSubmissionClient::connect(at).await?;
            Ok(json!(client.submit_transaction(text(args, "cbor")).await?))
        }
        "evaluate" => {
            let client = TransactionSubmissionClient::connect(at).await?;
            let results = client.evaluate_transaction(text(args, "cbor"), None).await?;
            Ok(serde_json::to_value(results)?)
        }
        "mempool" => {
            let client = MempoolMonitoringClient::connect(at).await?;
            client.acquire_mempool().await?;
            let mut hashes = Vec::new();
            while let Some(hash) = client.next_transaction_id().await? {
                hashes.push(hash);
            }
            Ok(json!(hashes))
        }
        "hasTransaction" => {
            let client = MempoolMonitoringClient::connect(at).await?;
            client.acquire_mempool().await?;
            Ok(json!(client.has_transaction(text(args, "hash")).await?))
        }
        _ => query(at, name, args).await,
    }
}

async fn query(at: ConnectionConfig, name: &str, args: &Value) -> Answer {
    let client = LedgerStateQueryClient::connect(at, None).await?;
    Ok(match name {
        "parameters" => serde_json::to_value(client.protocol_parameters().await?)?,
        "utxos" => serde_json::to_value(client.utxo_by_addresses(vec![text(args, "address").into()]).await?)?,
        "epoch" => json!(client.epoch().await?),
        "tip" => serde_json::to_value(client.network_tip().await?)?,
        "height" => serde_json::to_value(client.network_block_height().await?)?,
        "startTime" => json!(client.network_start_time().await?),
        "eras" => json!(client.era_summaries().await?.len()),
        "constitution" => serde_json::to_value(client.constitution().await?)?,
        _ => return Err(format!("no function {name}").into()),
    })
}

/// The hashes of the first blocks after the origin.
async fn chain(at: ConnectionConfig, count: u64) -> Answer {
    let context = create_interaction_context(InteractionContextOptions { connection: at, ..Default::default() }).await?;
    find_intersection(&context, vec![Point::origin()]).await?;
    let mut blocks = Vec::new();
    while (blocks.len() as u64) < count {
        if let NextBlockResponse::Forward { block, .. } = next_block(&context).await? {
            blocks.push(json!({ "hash": block.id(), "height": block.height() }));
        }
    }
    context.shutdown().await?;
    Ok(json!(blocks))
}
