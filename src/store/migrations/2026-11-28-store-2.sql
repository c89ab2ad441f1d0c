-- Written to learn whether the database can be written. "filler" is stored in the row, so that it needs a page.
create table write_probe (one boolean primary key default true check (one), at timestamptz not null default now(), filler text);
alter table write_probe alter column filler set storage plain;
