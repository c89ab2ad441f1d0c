-- Workers used to write times of their own clocks here: those of a fast clock are due now.
update effect set next_attempt = now() where not done and next_attempt > now() + interval '1 minute';
