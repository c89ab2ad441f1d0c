//! Local-state-query: queries are read and re-encoded by pallas, and so are answers as far as it has types for them.

use std::collections::BTreeMap;

use pallas_codec::minicbor::{Decode, Encode, decode, decode::Error};
use pallas_codec::utils::{AnyCbor, AnyUInt, Bytes, TagWrap};
use pallas_network::miniprotocols::localstate::queries_v16::{
    AccountState, BlockQuery, ChainBlockNumber, CommitteeMembersState, Constitution, DRep, DRepState,
    FilteredDelegsRewards, GenesisConfig, GovActionState, GovState, HardForkQuery, LedgerQuery, NonMyopicMemberRewards,
    PState, PoolParams, ProtocolParam, RatifyState, Request, StakeAddr, StakeDistribution, StakeSnapshots, SystemStart,
    TaggedSet, UTxOByAddress,
};
use pallas_network::miniprotocols::localstate::{
    AcquireFailure, Client, ClientAcquireRequest, ClientError, ClientQueryRequest, Server,
};
use pallas_network::miniprotocols::localtxsubmission::SMaybe;
use pallas_network::miniprotocols::{PROTOCOL_N2C_STATE_QUERY, Point};
use pallas_network::multiplexer::AgentChannel;
use serde_json::json;

use crate::{Outcome, Upstream, causes, connection::dial, say};

/// The tag 258.
const SET: [u8; 3] = [0xd9, 1, 2];

pub async fn relay(channel: AgentChannel, node: Upstream) -> Outcome {
    let mut server = Server::new(channel);
    let Some(mut target) = server.recv_while_idle().await? else {
        return Ok(());
    };
    let (_guard, channel) = dial(&node, PROTOCOL_N2C_STATE_QUERY).await?;
    let mut client = Client::new(channel);
    loop {
        let ClientAcquireRequest(point) = target;
        let acquired = client.acquire(point).await;
        if tell(&mut server, acquired).await? {
            holding(&mut server, &mut client).await?;
        }
        match server.recv_while_idle().await? {
            Some(next) => target = next,
            None => return Ok(()),
        }
    }
}

/// Tells the client how acquiring went; gives whether a state is held.
async fn tell(server: &mut Server, acquired: Result<(), ClientError>) -> Result<bool, crate::Failure> {
    match acquired {
        Ok(()) => server.send_acquired().await?,
        Err(ClientError::AcquirePointNotFound) => server.send_failure(AcquireFailure::PointNotOnChain).await?,
        Err(ClientError::AcquirePointTooOld) => server.send_failure(AcquireFailure::PointTooOld).await?,
        Err(error) => return Err(error.into()),
    }
    Ok(acquired.is_ok())
}

/// Answers queries until the state is let go.
async fn holding(server: &mut Server, client: &mut Client) -> Outcome {
    loop {
        match server.recv_while_acquired().await? {
            ClientQueryRequest::Release => return Ok(client.send_release().await?),
            ClientQueryRequest::ReAcquire(point) => {
                if !tell(server, reacquire(client, point).await).await? {
                    return Ok(());
                }
            }
            ClientQueryRequest::Query(query) => {
                let read = read(&query);
                let answer = match &read {
                    Ok(request) => client.query_any(AnyCbor::from_encode(request.clone())).await?,
                    Err(_) => client.query_any(query).await?,
                };
                let told = match read {
                    Ok(request) => {
                        let (told, how) = anew(&request, answer);
                        say(json!({ "event": "query", "query": name(&request), "answer": how }));
                        told
                    }
                    Err(error) => {
                        say(json!({ "event": "query", "unread": causes(&error) }));
                        answer
                    }
                };
                server.send_result(told).await?;
            }
        }
    }
}

async fn reacquire(client: &mut Client, point: Option<Point>) -> Result<(), ClientError> {
    client.send_reacquire(point).await?;
    client.recv_while_acquiring().await
}

/// A query as pallas reads it. Of some sets it does not know the tag, which a node lets away: it is taken off then.
fn read(query: &AnyCbor) -> Result<Request, Error> {
    query.clone().into_decode().or_else(|error| {
        let tagged = error.position().filter(|at| query.raw_bytes()[*at..].starts_with(&SET));
        let Some(at) = tagged else { return Err(error) };
        let bytes = [&query.raw_bytes()[..at], &query.raw_bytes()[at + SET.len()..]].concat();
        decode(&bytes)
    })
}

/// The name of what is asked, without its arguments.
fn name(request: &Request) -> String {
    let said = match request {
        Request::LedgerQuery(LedgerQuery::BlockQuery(_, query)) => format!("{query:?}"),
        Request::LedgerQuery(LedgerQuery::HardForkQuery(query)) => format!("{query:?}"),
        plain => format!("{plain:?}"),
    };
    said.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
        .into()
}

/// The answer to go on with, and what was done with it: "re-encoded", "read" (by a type that does not keep all of it), "untyped", or
/// why it could not be read.
fn anew(request: &Request, answer: AnyCbor) -> (AnyCbor, String) {
    let told = match request {
        Request::GetSystemStart => rewritten::<SystemStart>(&answer),
        Request::GetChainBlockNo => rewritten::<ChainBlockNumber>(&answer),
        Request::GetChainPoint => rewritten::<Point>(&answer),
        Request::LedgerQuery(LedgerQuery::HardForkQuery(HardForkQuery::GetCurrentEra)) => rewritten::<u16>(&answer),
        Request::LedgerQuery(LedgerQuery::HardForkQuery(_)) => return (answer, "untyped".into()),
        Request::LedgerQuery(LedgerQuery::BlockQuery(_, query)) => match query {
            BlockQuery::GetLedgerTip => rewritten::<(Point,)>(&answer),
            BlockQuery::GetEpochNo => rewritten::<(u32,)>(&answer),
            BlockQuery::GetCurrentPParams => rewritten::<(ProtocolParam,)>(&answer),
            BlockQuery::GetUTxOByAddress(_) | BlockQuery::GetUTxOByTxIn(_) | BlockQuery::GetUTxOWhole => {
                rewritten::<(UTxOByAddress,)>(&answer)
            }
            BlockQuery::GetCBOR(_) => rewritten::<(TagWrap<Bytes, 24>,)>(&answer),
            BlockQuery::GetFilteredDelegationsAndRewardAccounts(_) => rewritten::<(FilteredDelegsRewards,)>(&answer),
            BlockQuery::GetStakeDelegDeposits(_) => rewritten::<(BTreeMap<StakeAddr, AnyUInt>,)>(&answer),
            BlockQuery::GetFilteredVoteDelegatees(_) => rewritten::<(BTreeMap<StakeAddr, DRep>,)>(&answer),
            BlockQuery::GetStakePools => rewritten::<(TaggedSet<Bytes>,)>(&answer),
            BlockQuery::GetStakePoolParams(_) => rewritten::<(BTreeMap<Bytes, PoolParams>,)>(&answer),
            BlockQuery::GetPoolState(_) => rewritten::<(PState,)>(&answer),
            BlockQuery::GetStakeSnapshots(_) => rewritten::<(StakeSnapshots,)>(&answer),
            BlockQuery::GetStakeDistribution | BlockQuery::GetStakeDistribution2 => {
                rewritten::<(StakeDistribution,)>(&answer)
            }
            BlockQuery::GetNonMyopicMemberRewards(_) => rewritten::<(NonMyopicMemberRewards,)>(&answer),
            BlockQuery::GetAccountState => rewritten::<(AccountState,)>(&answer),
            // pallas writes a constitution, and what holds one, without the `null` of a missing script
            BlockQuery::GetConstitution => return only_read::<(Constitution,)>(answer),
            BlockQuery::GetGovState => return only_read::<(GovState,)>(answer),
            BlockQuery::GetDRepState(_) => rewritten::<(BTreeMap<StakeAddr, DRepState>,)>(&answer),
            BlockQuery::GetDRepStakeDistr(_) => rewritten::<(BTreeMap<DRep, AnyUInt>,)>(&answer),
            BlockQuery::GetCommitteeMembersState(..) => rewritten::<(CommitteeMembersState,)>(&answer),
            BlockQuery::GetSPOStakeDistr(_) => rewritten::<(BTreeMap<Bytes, AnyUInt>,)>(&answer),
            BlockQuery::GetProposals(_) => return only_read::<(Vec<GovActionState>,)>(answer),
            BlockQuery::GetRatifyState => return only_read::<(RatifyState,)>(answer),
            BlockQuery::GetFuturePParams => rewritten::<(SMaybe<ProtocolParam>,)>(&answer),
            BlockQuery::GetDRepsDelegations(_) => rewritten::<(BTreeMap<DRep, TaggedSet<StakeAddr>>,)>(&answer),
            // pallas' type ends before the parameters and what follows them
            BlockQuery::GetGenesisConfig => return only_read::<(GenesisConfig,)>(answer),
            _ => return (answer, "untyped".into()),
        },
    };
    match told {
        Ok(told) => (told, "re-encoded".into()),
        Err(error) => (answer, causes(&error)),
    }
}

/// The answer as it is, and how it was read.
fn only_read<T>(answer: AnyCbor) -> (AnyCbor, String)
where
    T: for<'b> Decode<'b, ()>,
{
    let how = match answer.clone().into_decode::<T>() {
        Ok(_) => "read".into(),
        Err(error) => causes(&error),
    };
    (answer, how)
}

fn rewritten<T>(answer: &AnyCbor) -> Result<AnyCbor, Error>
where
    T: Encode<()> + for<'b> Decode<'b, ()>,
{
    answer.clone().into_decode::<T>().map(AnyCbor::from_encode)
}
