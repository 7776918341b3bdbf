-- Consecutive time-outs of a provider, counted over all processes (MAIL-38). A crash of the server empties the table: the count restarts at zero.
create unlogged table email_provider_hangs (
  provider text primary key,
  in_a_row integer not null,
  -- Of the newest one; time-outs further apart than a minute are not in a row.
  noted_at timestamptz not null
);

select secure_table('email_provider_hangs');
