import { Effect } from "effect"

import { WriteSql } from "../../src/adapters/postgres/client.ts"
import { untilFound } from "../support/until.ts"

/** A write of a mail's way, caught when it was made and before it is committed. */
export type Moment =
  | "receive"
  | "claim"
  | "identify"
  | "admit"
  | "claim to convert"
  | "finish"
  | "take processing-started"
  | "sent processing-started"
  | "take success"
  | "begin success"
  | "log success"
  | "sent success"
  | "clean"

/** A process that reaches a closed gate's write waits there with its transaction open, and shows it in its application name. */
const SETUP = [
  "create table crash_gates (who text, moment text, primary key (who, moment))",
  `create function crash_gate(p_who text, p_moment text) returns void language plpgsql as $$
  begin
    while exists (select from crash_gates g where g.who = p_who and g.moment = p_moment) loop
      perform set_config('application_name', 'gate ' || p_moment || '/' || p_who, true);
      perform pg_sleep(0.01);
    end loop;
  end
  $$`,
  `create function crash_mails() returns trigger language plpgsql as $$
  begin
    perform crash_gate(new.envelope_from, case
      when tg_op = 'INSERT' then 'receive'
      when new.cleaned is distinct from old.cleaned then 'clean'
      when old.identity is null and new.identity is not null then 'identify'
      when old.step = 'received' and new.step = 'converting' then 'admit'
      when old.step = 'converting' and new.step = 'ended' then 'finish'
      when new.lease is null or new.lease is not distinct from old.lease then 'none'
      when new.step = 'received' then 'claim'
      else 'claim to convert'
    end);
    return null;
  end
  $$`,
  "create trigger crash_mails after insert or update on intake_mails for each row execute function crash_mails()",
  `create function crash_replies() returns trigger language plpgsql as $$
  begin
    perform crash_gate(new.recipient, case when new.status = 'sent' then 'sent ' else 'take ' end || new.kind);
    return null;
  end
  $$`,
  `create trigger crash_replies after update on intake_replies for each row
  when (new.status = 'sent' or new.lease is not null) execute function crash_replies()`,
  `create function crash_begin() returns trigger language plpgsql as $$
  begin
    perform crash_gate(m.envelope_from, 'begin success') from intake_mails m
    where new.key_hash = encode(sha256(convert_to(format('convert-email:%s:success', m.id), 'UTF8')), 'hex');
    return null;
  end
  $$`,
  "create trigger crash_begin after insert on email_send_claims for each row execute function crash_begin()",
  `create function crash_log() returns trigger language plpgsql as $$
  begin
    perform crash_gate(r.recipient, 'log success') from intake_replies r
    where new.key_hash = encode(sha256(convert_to(format('convert-email:%s:success', r.mail_id), 'UTF8')), 'hex')
      and r.kind = 'success';
    return null;
  end
  $$`,
  "create trigger crash_log after insert on email_log for each row execute function crash_log()"
]

/** Gates in a test's own database, at which the work on a mail stands still until it is let on or lost. */
export const makeGates = Effect.gen(function* () {
  const sql = yield* WriteSql
  for (const statement of SETUP) yield* sql.unsafe(statement)

  const atGate = (moment: Moment, who: string) =>
    sql<{ readonly pid: number }>`select pid from pg_stat_activity
      where application_name = ${`gate ${moment}/${who}`} and datname = current_database()`

  return {
    shut: (moment: Moment, who: string) =>
      sql`insert into crash_gates (who, moment) values (${who}, ${moment})`,
    atGate: (moment: Moment, who: string) => Effect.map(atGate(moment, who), ({ length }) => length > 0),
    /** The process is dead: what it wrote last is committed although nobody hears of it, or is lost. */
    open: Effect.fnUntraced(function* (moment: Moment, who: string, commits: boolean) {
      if (!commits) {
        for (const { pid } of yield* atGate(moment, who))
          yield* sql`select pg_terminate_backend(${pid}::integer)`
      }
      yield* sql`delete from crash_gates where who = ${who} and moment = ${moment}`
      yield* untilFound(
        `the gate ${moment} is left`,
        Effect.map(atGate(moment, who), ({ length }) => length === 0)
      )
    })
  }
})
