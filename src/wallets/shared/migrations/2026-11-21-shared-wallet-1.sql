-- beside a wallet's row of the kind 'shared': index of its account, and its templates in JSON
create table shared_wallet (
  id text primary key, account bigint not null, payment text not null, delegation text, complete boolean not null);
