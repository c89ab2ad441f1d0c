create table network (one boolean primary key default true check (one), magic bigint not null)
