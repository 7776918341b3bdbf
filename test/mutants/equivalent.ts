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
  erase_person: {
    "a lock dropped: `for update`":
      "closing the account, which follows, takes the lock, or the new address does"
  }
}
