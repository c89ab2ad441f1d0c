//! A relay between two node-to-client sockets, for tests: what comes from one side is decoded by pallas, and encoded anew for the other.
//! Towards the node it is a client, towards the client a node. Blocks and transactions are also read by pallas' model of the ledger.
//!
//! It prints one JSON object a line: "ready", "version", "block", "await", "query", "verdict", "closed".

mod chain;
mod connection;
mod mempool;
mod states;
mod submission;

use std::error::Error;

use pallas_network::multiplexer::Bearer;
use serde_json::{Value, json};
use tokio::net::UnixListener;

pub type Failure = Box<dyn Error + Send + Sync>;
pub type Outcome = Result<(), Failure>;

/// Where the node is, and on which network.
#[derive(Clone)]
pub struct Upstream {
    pub path: String,
    pub magic: u64,
}

pub fn say(line: Value) {
    println!("{line}");
}

/// What went wrong, with its causes.
pub fn causes(error: &(dyn Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        said = format!("{said}: {inner}");
        cause = inner.source();
    }
    said
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut path = String::new();
    let mut upstream = Upstream {
        path: String::new(),
        magic: 42,
    };
    let mut given = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (given.next(), given.next()) {
        match name.as_str() {
            "-node" => upstream.path = value,
            "-socket" => path = value,
            "-magic" => upstream.magic = value.parse()?,
            _ => return Err(format!("no option {name}").into()),
        }
    }
    let listener = UnixListener::bind(&path)?;
    say(json!({ "event": "ready" }));
    loop {
        let (bearer, _) = Bearer::accept_unix(&listener).await?;
        let upstream = upstream.clone();
        tokio::spawn(async move {
            let why = match connection::serve(bearer, upstream).await {
                Ok(()) => "ended".into(),
                Err(failure) => causes(failure.as_ref()),
            };
            say(json!({ "event": "closed", "why": why }));
        });
    }
}
