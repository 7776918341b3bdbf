import json, os, psycopg

with psycopg.connect(os.environ["DATABASE_URL"]) as db:  # commits at its end
    [id] = db.execute("insert into orders (email) values ('ann@example.com') returning id").fetchone()
    mail = {"to": "ann@example.com", "subject": "Receipt", "text": "Thanks.",
            "category": "transactional", "source": "shop", "idempotencyKey": f"order/{id}"}
    db.execute("select enqueue_email(%s::jsonb)", [json.dumps(mail)])
