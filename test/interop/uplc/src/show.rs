//! Terms in one form: variables by index, constants written in one way.

use uplc::ast::{Constant, NamedDeBruijn, Term, Type};
use uplc::builtins::DefaultFunction;
use uplc::machine::value::from_pallas_bigint;
use uplc::{Constr, PlutusData};

pub fn term(of: &Term<NamedDeBruijn>) -> String {
    match of {
        Term::Var(name) => name.index.inner().to_string(),
        Term::Delay(body) => format!("(delay {})", term(body)),
        Term::Force(body) => format!("(force {})", term(body)),
        Term::Lambda { body, .. } => format!("(lam {})", term(body)),
        Term::Apply { function, argument } => format!("[{} {}]", term(function), term(argument)),
        Term::Constant(value) => format!("(con {} {})", type_of(&Type::from(value.as_ref())), constant(value)),
        Term::Error => "(error)".into(),
        // the crate has its name of before it was renamed
        Term::Builtin(DefaultFunction::VerifyEd25519Signature) => "(builtin verifyEd25519Signature)".into(),
        Term::Builtin(name) => format!("(builtin {name})"),
        Term::Constr { tag, fields } => format!("(constr {tag}{})", several(fields)),
        Term::Case { constr, branches } => format!("(case {}{})", term(constr), several(branches)),
    }
}

fn several(terms: &[Term<NamedDeBruijn>]) -> String {
    terms.iter().map(|one| format!(" {}", term(one))).collect()
}

fn type_of(of: &Type) -> String {
    match of {
        Type::Bool => "bool".into(),
        Type::Integer => "integer".into(),
        Type::String => "string".into(),
        Type::ByteString => "bytestring".into(),
        Type::Unit => "unit".into(),
        Type::Data => "data".into(),
        Type::Value => "value".into(),
        Type::Bls12_381G1Element => "bls12_381_G1_element".into(),
        Type::Bls12_381G2Element => "bls12_381_G2_element".into(),
        Type::Bls12_381MlResult => "bls12_381_mlresult".into(),
        Type::List(inner) => format!("(list {})", type_of(inner)),
        Type::Pair(first, second) => format!("(pair {} {})", type_of(first), type_of(second)),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn constant(of: &Constant) -> String {
    match of {
        Constant::Integer(value) => value.to_string(),
        Constant::ByteString(bytes) => format!("#{}", hex::encode(bytes)),
        Constant::String(text) => serde_json::to_string(text).expect("a text"),
        Constant::Unit => "null".into(),
        Constant::Bool(value) => value.to_string(),
        Constant::ProtoList(_, list) => format!("[{}]", joined(list.iter().map(|one| constant(one)))),
        Constant::ProtoPair(_, _, first, second) => format!("({}, {})", constant(first), constant(second)),
        Constant::Data(value) => data(value),
        Constant::Value(value) => value
            .clone()
            .into_entries()
            .iter()
            .map(|(policy, tokens)| {
                let amounts = joined(
                    tokens
                        .iter()
                        .map(|(token, amount)| format!("{} {amount}", hex::encode(token))),
                );
                format!("{}: {amounts}", hex::encode(policy))
            })
            .collect::<Vec<_>>()
            .join("; "),
        Constant::Bls12_381G1Element(point) => {
            let mut form = [0; 48];
            unsafe { blst::blst_p1_compress(form.as_mut_ptr(), point.as_ref()) };
            format!("0x{}", hex::encode(form))
        }
        Constant::Bls12_381G2Element(point) => {
            let mut form = [0; 96];
            unsafe { blst::blst_p2_compress(form.as_mut_ptr(), point.as_ref()) };
            format!("0x{}", hex::encode(form))
        }
        Constant::Bls12_381MlResult(_) => "_".into(),
    }
}

fn data(of: &PlutusData) -> String {
    match of {
        PlutusData::BigInt(value) => format!("I {}", from_pallas_bigint(value)),
        PlutusData::BoundedBytes(bytes) => format!("B #{}", hex::encode(bytes.as_slice())),
        PlutusData::Array(list) => format!("List [{}]", joined(list.iter().map(data))),
        PlutusData::Map(map) => {
            format!(
                "Map [{}]",
                joined(
                    map.iter()
                        .map(|(key, value)| format!("({}, {})", data(key), data(value)))
                )
            )
        }
        PlutusData::Constr(Constr {
            tag,
            any_constructor,
            fields,
        }) => {
            let number = match tag {
                121..=127 => tag - 121,
                1280..=1400 => tag - 1280 + 7,
                _ => any_constructor.unwrap_or_default(),
            };
            format!("Constr {number} [{}]", joined(fields.iter().map(data)))
        }
    }
}
