//! Runs programs of Untyped Plutus Core on aiken's machine, for tests. It reads JSON objects, one a line: rules ("language", "major",
//! "costs"), and programs with the place of their rules among those read before ("rules", "flat", "steps", "memory"). For each program
//! it prints a line: "result", "steps" and "memory", or the "failure".

mod show;

use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead, Write, stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use uplc::Language;
use uplc::ast::{DeBruijn, NamedDeBruijn, Program};
use uplc::machine::cost_model::ExBudget;

#[derive(Deserialize)]
struct Rules {
    language: u8,
    major: u16,
    costs: Vec<i64>,
}

#[derive(Deserialize)]
struct Job {
    rules: usize,
    flat: String,
    steps: i64,
    memory: i64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Rules(Rules),
    Job(Job),
}

fn run(job: &Job, rules: &Rules) -> Value {
    let flat = hex::decode(&job.flat).expect("hexadecimal");
    let program = match Program::<DeBruijn>::from_flat(&flat) {
        Ok(program) => Program::<NamedDeBruijn>::from(program),
        Err(error) => return json!({ "failure": format!("decoding: {error}") }),
    };
    let language = match rules.language {
        1 => Language::PlutusV1,
        2 => Language::PlutusV2,
        _ => Language::PlutusV3,
    };
    let limit = ExBudget {
        mem: job.memory,
        cpu: job.steps,
    };
    let outcome = program.eval_as_with_protocol(&language, rules.major, &rules.costs, Some(&limit));
    let spent = outcome.cost();
    match outcome.result() {
        Ok(term) => json!({ "result": show::term(&term), "steps": spent.cpu, "memory": spent.mem }),
        Err(error) => json!({ "failure": error.to_string() }),
    }
}

fn serve() {
    let mut known: Vec<Rules> = Vec::new();
    for line in stdin().lock().lines() {
        match serde_json::from_str(&line.expect("a line")).expect("a request") {
            Line::Rules(rules) => known.push(rules),
            Line::Job(job) => {
                let verdict = catch_unwind(AssertUnwindSafe(|| run(&job, &known[job.rules])))
                    .unwrap_or_else(|_| json!({ "failure": "panic" }));
                let mut out = stdout().lock();
                writeln!(out, "{verdict}").expect("a reader");
            }
        }
    }
}

fn main() {
    // the crate recurses into terms and data
    let stack = 1 << 30;
    let served = std::thread::Builder::new()
        .stack_size(stack)
        .spawn(serve)
        .expect("a thread");
    served.join().expect("no panic");
}
