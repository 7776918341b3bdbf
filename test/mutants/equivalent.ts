/** How the reason of a fault begins that is in what a text says to people: a test of it would repeat the text. */
export const WORDS = "words: "

/** Faults that change nothing, or words only, by the file or function and by their name in the report, with the reason. */
export const EQUIVALENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "src/domain/mail/address.ts": {
    "a condition: `!/\\P{ASCII}/u.test(lower)` → `false`": "`URL` makes no host of ASCII text that is none",
    "an operator: ` < ` → ` <= `": "beyond the end there is no character",
    "a constant: `false` → `true`": "a blank at the edge of a name is dropped"
  },
  "src/domain/mail/deferred-send.ts": {
    "a condition: `delay === undefined` → `false`": "no number is within the window",
    "a condition: `body.length > MAX_DEFERRED_BYTES` → `false`":
      "it saves the count of bytes, which decides the same"
  },
  "src/domain/mail/export-records.ts": {
    "a condition: `length <= MAX_RECORD_LENGTH` → `true`":
      "it saves memory: a record that is too long is dropped as a whole",
    "a constant: `false` → `true` (7)":
      "nothing is escaped outside of a text, and its first sign is looked at as one inside",
    "a condition: `around.length < MAX_RECORD_LENGTH` → `true`":
      "it saves memory: what says that more follow stands before or after the records",
    "an operator: ` < ` → ` <= `": "one sign more or less of what is around the records",
    "a condition: `length <= MAX_RECORD_LENGTH` → `true` (2)":
      "it saves memory: a record that is too long is dropped as a whole",
    "a condition: `depth > 0 && !/[\\s,]/.test(sign)` → `true`":
      "what is around the records is searched for two members alone",
    "an operator: ` > ` → ` >= ` (3)": "what is around the records is searched for two members alone",
    "an operator: ` && ` → ` || ` (6)": "what is around the records is searched for two members alone",
    'a condition: `first === ""` → `false`': "blanks begin no document, and CSV drops them",
    "a constant: `false` → `true` (5)": "what stands before the first brace of JSON is no record"
  },
  "src/domain/mail/message.ts": {
    "a condition: `/\\s/.test(content)` → `true`": "it saves a copy of what has no blanks",
    "a condition: `blocked.size === 0` → `false`": "it saves a copy where nobody is blocked",
    "an operator: ` < ` → ` <= `": "no two entries have one name",
    "a condition: `a > b` → `true`": "no two entries have one name",
    "a condition: `a > b` → `false`": "a sort asks only whether one comes before the other",
    "an operator: ` > ` → ` >= ` (5)": "no two entries have one name",
    "an operator: ` > ` → ` <= ` (5)": "a sort asks only whether one comes before the other"
  },
  "src/domain/mail/outbox-search.ts": {
    "a constant: `false` → `true` (2)": "an empty token is no term",
    "a condition: `began` → `true`": "an empty token is no term",
    "a constant: `false` → `true` (3)": "an empty token is no term",
    "a condition: `day === undefined` → `false`": "no day is no date",
    "a call: `find` → `findLast`": "each name is there once",
    "a member: `false, ` → ``": "nothing is as good as no",
    "a member: `, false` → ``": "nothing is as good as no",
    'a member: `"", ` → `` (2)': "without a colon neither name nor value is asked for",
    'a member: `, ""` → ``': "without a colon neither name nor value is asked for"
  },
  "src/domain/mail/plain-request.ts": {
    "an operator: ` < ` → ` <= `": "no two members have one name",
    "an operator: ` < ` → ` >= `": "any order will do that is always the same"
  },
  "src/domain/mail/read-request.ts": {
    "a condition: `Array.isArray(value)` → `false`": "a list has as many members as entries"
  },
  "src/domain/mail/return-address.ts": {
    "an operator: ` < ` → ` <= `": "the same digits, each one later",
    "a condition: `bits === 0` → `false`": "256 bits are no multiple of five",
    "an operator: ` >= ` → ` > `": "the same digits, each one later, and the last one is cut off"
  },
  "src/domain/mail/sender-token.ts": {
    "a call: `.trim()` → `` (2)": "`parseMailbox` drops blanks at the edges"
  },
  "src/domain/mail/status.ts": {
    "a call: `find` → `findLast`": "each name is there once"
  },
  "src/domain/mail/submitted-mail.ts": {
    "a call: `find` → `findLast` (2)": "each name is there once"
  },
  "src/domain/mail/suppression/one-click.ts": {
    "a call: `find` → `findLast`": "a message has each header once, whatever its case",
    'a condition: `linking._tag === "Own"` → `true`': "what is not the caller's has no address",
    "an operator: ` ?? ` → ` && ` (2)": "the domain of a mailbox is ASCII"
  },
  "src/domain/mail/suppression/policy.ts": {
    "an operator: ` > ` → ` >= `": "no two reasons are of one strength"
  },
  "src/domain/mail/templates/samples.ts": {
    'a member: `"Hello Ann,", ` → ``': "words: the sample that a template is shown with",
    'a member: `, "Postlane makes accessible HTML out of your PDF files. The…` → ``':
      "words: the sample that a template is shown with",
    "a member: `3, ` → ``": "words: the sample that a template is shown with",
    "a member: `, 12` → ``": "words: the sample that a template is shown with",
    "a constant: `false` → `true`": "words: the sample that a template is shown with",
    "a constant: `false` → `true` (2)": "words: the sample that a template is shown with",
    "a constant: `true` → `false`": "words: the sample that a template is shown with",
    "a constant: `false` → `true` (3)": "words: the sample that a template is shown with"
  },
  "src/domain/delivery/alarm-rules.ts": {
    "a call: `find` → `findLast`": "no provider's name begins another's"
  },
  "src/domain/delivery/poll-rules.ts": {
    "an operator: ` && ` → ` || ` (7)": "no time is earlier than one that is missing"
  },
  "src/domain/delivery/returned/report.ts": {
    "a condition: `value !== undefined && value.length < MAX_FIELD` → `true`":
      "what is beyond the limit is cut off, and no field without a name is asked for",
    "an operator: ` < ` → ` <= `": "it saves time: what is beyond the limit is cut off"
  },
  "src/domain/inbound/authentication-results.ts": {
    "an operator: ` < ` → ` <= `": "beyond the end there is no character",
    "a condition: `result === undefined` → `false`": "what has no result is refused in the next line",
    "a call: `.slice(0, MAX_LENGTH)` → ``":
      "it bounds the time: of a longer header nothing counts but its server",
    'a statement: `cursor.takes(";")` → ``': "the list of results may begin with a semicolon"
  },
  "src/domain/inbound/mail-headers.ts": {
    "an operator: ` > ` → ` >= ` (2)": "a tag without a name is not asked for",
    "a call: `find` → `findLast`": "words: which of several is named",
    'a member: `"none", ` → ``': "a list is no Message-ID, whatever is in it",
    "an operator: ` > ` → ` >= ` (6)": "of twenty the first and nineteen others are all"
  },
  "src/domain/inbound/quotable.ts": {
    "a call: `.trim()` → `` (3)": "an empty word is not asked for",
    "a condition: `close === -1` → `false`": "what follows is then no comment"
  },
  "src/domain/inbound/sender-authenticity.ts": {
    "an operator: ` < ` → ` <= `": "beyond both ends there is no difference",
    "a condition: `hop === undefined` → `false` (2)":
      "words: without a report nothing is said of DMARC, either",
    "a call: `find` → `findLast`": "each method is there once"
  },
  claim_converting_mail: {
    "a state dropped: `m.step = 'converting'` → `true` (2)":
      "it saves the lock of the turn: what is due is decided again under it",
    "a call dropped: `perform set_config('synchronous_commit', 'off', true);` → `null;`":
      "it saves the next claim a wait for the disk"
  },
  claim_received_mail: {
    "a state dropped: `x.step = 'received'` → `true` (2)":
      "it saves a look: a turn with nothing that is due is left out below",
    "a state dropped: `x.step = 'received'` → `true` (3)":
      "it saves a look: a turn with nothing that is due is left out below"
  },
  owners_of_converting_mails: {
    "a state dropped: `m.step = 'converting'` → `true`":
      "it saves a look: the claim passes over a customer with nothing that is due",
    "a state dropped: `m.step = 'converting'` → `true` (2)":
      "it saves a look: the claim passes over a customer with nothing that is due"
  },
  owners_of_inline_work: {
    "a state dropped: `f.status = 'processing'` → `true`":
      "it saves reading owners of whom nothing waits: they have no oldest file",
    "a state dropped: `f.status = 'processing'` → `true` (2)":
      "it saves reading owners of whom nothing waits: they have no oldest file"
  },
  claim_chunk_of: {
    "a comparison turned: `<` → `>=`": "it saves time: both ways find the oldest job that can be worked on",
    "a state dropped: `c.status = 'pending'` → `true`":
      "it saves reading jobs of which no chunk waits: the job and the chunk are looked at again",
    "a state dropped: `j.status = 'pending'` → `true`":
      "it saves writing a job that is being worked on already"
  },
  sweep_conversions: {
    "a state dropped: `h.state = 'held'` → `true`":
      "it saves reading holds that have ended: neither a release nor a refresh changes one",
    "a state dropped: `f.status = 'chunked_processing'` → `true`":
      "it saves reading files that show no conversion: the update asks again"
  },
  claim_in_turn: {
    "a call dropped: `perform set_config('synchronous_commit', 'off', true);` → `null;`":
      "it saves the wait for the disk: a claim that is undone is no claim"
  },
  release_overdue_batch_job: {
    "a state dropped: `x.status = 'waiting_batch'` → `true`":
      "it saves reading jobs that do not wait: `overdue_batch_reason` decides the same"
  },
  begin_queued_emails: {
    "an order dropped: `order by h.place`": "`lock_queued_emails` gives the places in their order"
  },
  email_claim_entries_of: {
    "an order dropped: `order by x.key_hash, x.ord`": "PostgreSQL sorts once for both aggregates",
    "an order dropped: `order by x.key_hash, x.ord` (2)": "PostgreSQL sorts once for both aggregates"
  },
  claim_new_keys: {
    "an order dropped: `order by x.key_hash, x.ord`":
      "the entries come in that order, and `distinct on` sorts by the key alone"
  },
  write_new_sends: {
    "a comparison turned: `>` → `<=`": "it saves work: `settle_email_claims` ends what is not ended here",
    "a comparison turned: `is not null` → `is null`":
      "it saves work: `settle_email_claims` ends what is not ended here",
    "a comparison turned: `is null` → `is not null`":
      "it saves work: `settle_email_claims` ends what is not ended here",
    "a comparison turned: `is distinct from` → `is not distinct from`":
      "it saves work: `settle_email_claims` ends what is not ended here",
    "an order dropped: `order by x.place`": "`jsonb_array_elements` gives them in that order"
  },
  purge_email_claims: {
    "an interval changed: `24` → `23`":
      "it saves work, by its index: no first attempt is later than the last one, which decides"
  },
  begin_email_retry: {
    "a state dropped: `l.outcome is distinct from 'sent'` → `true`":
      "no row of the library is without its key: it lets the index of tags serve"
  },
  email_deferral_end: {
    "a state dropped: `x.outcome is distinct from 'sent'` → `true`":
      "no row of the library is without its key: it lets the index of tags serve"
  },
  find_email_evidence: {
    "a state dropped: `l.outcome is distinct from 'sent'` → `true`":
      "no row of the library is without its key: it lets the index of tags serve"
  },
  email_log_rows_in_order: {
    "a state dropped: `l.outcome is distinct from 'sent'` → `true`":
      "what is null is not sent: it lets the index of tags serve"
  },
  lock_early_row: {
    "a state dropped: `l.outcome is distinct from 'sent'` → `true`":
      "what is null is not sent: it lets the index of tags serve"
  },
  attempts_without_person: {
    "an order dropped: `order by x.place`": "`jsonb_array_elements` gives them in that order"
  },
  email_addresses: {
    "an order dropped: `order by x.position`": "`unnest` gives them in that order"
  },
  request_without_person: {
    "an order dropped: `order by x.place`": "`jsonb_array_elements` gives them in that order"
  },
  without_erased_people: {
    "an order dropped: `order by x.place`": "`unnest` gives them in that order"
  },
  lease_queued_emails: {
    "an order dropped: `order by t.place`":
      "the settings of its caller leave one way: request by request, in their order"
  },
  pick_queued_emails: {
    "an order dropped: `order by q.due_at`":
      "the index, the only way that the settings leave, has that order",
    "an order dropped: `order by q.due_at` (2)":
      "the index, the only way that the settings leave, has that order"
  },
  take_queued_emails: {
    "an order dropped: `order by x.lane`": "`unnest` gives the categories in that order"
  },
  first_due_email: {
    "an order dropped: `order by q.due_at`": "the index, the only way that the settings leave, has that order"
  },
  erase_person: {
    "a lock dropped: `for update`":
      "closing the account, which follows, takes the lock, or the new address does"
  },
  settle_outreach_sends: {
    "a state dropped: `s.status = 'deferred'` → `true`": "`settle_outreach_send` looks again"
  },
  claim_event_hook_deliveries: {
    "a state dropped: `d.state = 'pending'` → `true`": "what has ended is not due: a check of the table",
    "a state dropped: `d.state = 'pending'` → `true` (2)": "what has ended is not due: a check of the table",
    "an order dropped: `order by d.next_at, d.sequence`":
      "the index by which what is due is found has this order"
  },
  end_event_hook_tries: {
    "an interval changed: `10` → `9`": "it saves writes: the last receipt is shown to ten seconds or so"
  },
  erase_hook_person: {
    "an order dropped: `order by x.place`": "`jsonb_array_elements` gives them in this order"
  },
  event_hook_health: {
    "a state dropped: `d.state = 'pending'` → `true` (2)": "what has ended is not due: a check of the table"
  },
  tend_event_hooks: {
    "a state dropped: `x.state = 'pending'` → `true` (2)": "what has ended is not due: a check of the table",
    "a state dropped: `x.state <> 'pending'` → `true`": "what is pending has no end: a check of the table"
  },
  write_hook_deliveries: {
    "a state dropped: `d.state = 'pending'` → `true`": "what has ended is not due: a check of the table",
    "an order dropped: `order by e.place, h.id`":
      "`hook_wants` is joined by a nested loop alone, in which each hook gets its events in their order"
  },
  key_of_tag: {
    "a state dropped: `l.outcome is distinct from 'sent'` → `true`":
      "it names the index: an acceptance that has the tag proves the key itself"
  },
  record_email_events: {
    'an order dropped: `order by e.provider collate "C", e.provider_message_id collate "C"`':
      "mails are grouped by sorting them, in a database whose own order is that of the bytes, as the tests' is",
    "a state dropped: `l.outcome is distinct from 'sent'` → `true`":
      "it names the index: what was accepted is not `deferred`",
    "a state dropped: `l.status = 'deferred'` → `true`":
      "it saves turns: `adopt_deferral_of_event` looks for itself"
  },
  adopt_deferral_of_event: {
    "a state dropped: `l.outcome is distinct from 'sent'` → `true`":
      "it names the index: what was accepted is not `deferred`"
  },
  tell_hooks_of_suppressions: {
    "a comparison turned: `is null` → `is not null`":
      "it saves a row: an erasure ends with `erase_hook_person`, which deletes what was written of the person"
  }
}
