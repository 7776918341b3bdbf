-- What each process said of itself last, for the overview. One that ends takes its row along, one that was killed leaves it for an hour.
-- A crash of the server empties the table: every process writes again within a minute.
create unlogged table process_reports (
  process text primary key,
  report jsonb not null,
  noted_at timestamptz not null default clock_timestamp()
);

select secure_table('process_reports');
