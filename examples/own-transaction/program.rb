require "json"
require "pg"

PG.connect(ENV.fetch("DATABASE_URL")).transaction do |db|
  id = db.exec("insert into orders (email) values ('ann@example.com') returning id")[0]["id"]
  mail = { to: "ann@example.com", subject: "Receipt", text: "Thanks.",
           category: "transactional", source: "shop", idempotencyKey: "order/#{id}" }
  db.exec_params("select enqueue_email($1::jsonb)", [mail.to_json])
end
