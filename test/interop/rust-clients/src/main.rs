//! Clients of Rust for Ogmios (ogmios-client) and for UTxO RPC (utxorpc, gRPC by tonic). Calls and answers as in
//! `serve.mjs`; the settings have the URLs.

use std::error::Error;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

mod ogmios;
mod rpc;

pub type Answer = Result<Value, Box<dyn Error + Send + Sync>>;

#[derive(Deserialize)]
struct Settings {
    #[serde(rename = "ogmiosPort")]
    ogmios_port: u16,
    utxorpc: String,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    args: Value,
}

/// The text of an argument.
pub fn text<'a>(args: &'a Value, name: &str) -> &'a str {
    args[name].as_str().unwrap_or_default()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let settings: Settings = serde_json::from_str(&std::env::var("PEER")?)?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let call: Call = serde_json::from_str(&line)?;
        let answer = match call.name.split_once('.') {
            Some(("ogmios", name)) => ogmios::call(settings.ogmios_port, name, &call.args).await,
            Some(("utxorpc", name)) => rpc::call(&settings.utxorpc, name, &call.args).await,
            _ => Err(format!("no function {}", call.name).into()),
        };
        let shown = match answer {
            Ok(value) => json!({ "value": value }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        println!("{shown}");
    }
    Ok(())
}
