# Resend's Ruby gem against an installation: what it was answered, as JSON.
require "json"
require "resend"

token, slow, at, later = ARGV
MAIL = { "from" => "Shop <shop@postlane.test>", "to" => ["ann@y.test"], "text" => "t" }.freeze

# What a call answered; of an error, what its user sees.
def asked
  JSON.parse(yield.to_h.to_json)
rescue Resend::Error => e
  { "kind" => e.class.name.split("::").last, "code" => e.instance_variable_get(:@code).to_s, "message" => e.message }
end

def send_mail(more, key = nil)
  options = key.nil? ? {} : { idempotency_key: key }
  asked { Resend::Emails.send(MAIL.merge(more), options: options) }
end

def batch(key, mode, mails)
  said = asked { Resend::Batch.send(mails, options: { idempotency_key: key, batch_validation: mode }) }
  said.key?("data") ? { "ids" => said["data"].map { |one| one["id"] }, "errors" => said["errors"] } : said
end

Resend.api_key = token
full = {
  "to" => ["ann@y.test", "bob@y.test"], "cc" => "carl@y.test", "bcc" => ["dora@y.test"], "reply_to" => "help@x.test",
  "subject" => "whole <&> é", "html" => "<p>h &amp; é</p>", "headers" => { "X-Order" => "17" },
  "tags" => [{ "name" => "campaign", "value" => "c1" }],
  "attachments" => [
    { "filename" => "all.bin", "content" => (0..255).to_a },
    { "filename" => "l.png", "content" => "AQID", "content_type" => "image/png", "content_id" => "logo" }
  ]
}
pair = ["first of two", "second of two"].map { |subject| MAIL.merge("subject" => subject) }
good, bad = MAIL.merge("subject" => "the good one"), MAIL.merge("subject" => "")
said = {
  "whole" => send_mail(full, "whole"),
  "wholeAgain" => send_mail(full, "whole"),
  "conflict" => send_mail(full.merge("subject" => "other"), "whole"),
  "batch" => batch("pair", "strict", pair),
  "batchAgain" => batch("pair", "strict", pair),
  "permissive" => batch("some", "permissive", [good, bad]),
  "strict" => batch("none", "strict", [MAIL.merge("subject" => "of a refused batch"), bad]),
  "nulls" => send_mail({ "subject" => "with nulls", "html" => nil, "cc" => nil, "tags" => nil, "attachments" => nil }, "nulls"),
  "words" => send_mail({ "subject" => "in words", "scheduled_at" => "in 1 min" }),
  "missing" => send_mail({ "subject" => "" }, "missing"),
  "template" => send_mail({ "subject" => "of a template", "template" => { "id" => "welcome" } }),
  "scheduled" => send_mail({ "subject" => "for later", "scheduled_at" => at }, "later")
}
planned = said["scheduled"]["id"]
said["planned"] = asked { Resend::Emails.get(planned) }
said["moved"] = asked { Resend::Emails.update({ email_id: planned, scheduled_at: later }) }
said["movedTo"] = asked { Resend::Emails.get(planned) }
said["cancelled"] = asked { Resend::Emails.cancel(planned) }
said["planless"] = asked { Resend::Emails.get(planned) }
said["unknown"] = asked { Resend::Emails.get("00000000-0000-4000-8000-000000000000") }
Resend.api_key = slow
said["slow"] = ["slow one", "slow two"].map { |subject| send_mail({ "subject" => subject }) }
Resend.api_key = "pl_send_wrong"
said["wrong"] = send_mail({ "subject" => "with a wrong token" })
puts JSON.generate(said)
