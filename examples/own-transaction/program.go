package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
)

func main() {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var id int
		order := "insert into orders (email) values ('ann@example.com') returning id"
		if err := tx.QueryRow(ctx, order).Scan(&id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "select enqueue_email($1::jsonb)", map[string]any{
			"to": "ann@example.com", "subject": "Receipt", "text": "Thanks.",
			"category": "transactional", "source": "shop", "idempotencyKey": fmt.Sprintf("order/%d", id),
		})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
}
