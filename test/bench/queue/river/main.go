// What a user of River would write for the mails of the benchmark: a worker that looks the recipient up, sends with the vendor's SDK under a
// key, and logs. Reads "fill COUNT" and "drain COUNT" from its input, and answers each with a line. Tuned as River's documentation says:
// inserts by COPY, fetches without a cooldown.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/resend/resend-go/v3"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const from = "Postlane <noreply@postlane.test>"

// Mail is the request that every contender gets.
type Mail struct {
	To             string `json:"to"`
	Subject        string `json:"subject"`
	HTML           string `json:"html"`
	Category       string `json:"category"`
	Source         string `json:"source"`
	IdempotencyKey string `json:"idempotencyKey"`
}

func (Mail) Kind() string { return "mail" }

type sender struct {
	river.WorkerDefaults[Mail]
	pool   *pgxpool.Pool
	vendor *resend.Client
	left   *atomic.Int64
	done   chan struct{}
}

func (s *sender) Work(ctx context.Context, job *river.Job[Mail]) error {
	mail := job.Args
	var blocked bool
	if err := s.pool.QueryRow(ctx, "select exists (select from email_suppressions where email = $1)", mail.To).Scan(&blocked); err != nil {
		return err
	}
	if !blocked {
		sent, err := s.vendor.Emails.SendWithOptions(ctx,
			&resend.SendEmailRequest{From: from, To: []string{mail.To}, Subject: mail.Subject, Html: mail.HTML},
			&resend.SendEmailOptions{IdempotencyKey: mail.IdempotencyKey})
		if err != nil {
			return err
		}
		if _, err := s.pool.Exec(ctx, `insert into hand_mails (key, sender, recipients, subject, status, message_id)
			values ($1, $2, array[$3], $4, 'sent', $5)`, mail.IdempotencyKey, from, mail.To, mail.Subject, sent.Id); err != nil {
			return err
		}
	}
	if s.left.Add(-1) == 0 {
		close(s.done)
	}
	return nil
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
	databaseURL, providerURL := os.Args[1], os.Args[2]
	concurrency, err := strconv.Atoi(os.Args[3])
	check(err)
	var base Mail
	check(json.Unmarshal([]byte(os.Args[4]), &base))

	config, err := pgxpool.ParseConfig(databaseURL)
	check(err)
	config.MaxConns = 12
	config.MaxConnIdleTime = 5 * time.Second
	pool, err := pgxpool.NewWithConfig(ctx, config)
	check(err)
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	check(err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	check(err)

	// Go keeps two idle connections to a host by default.
	vendor := resend.NewCustomClient(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: concurrency}}, "re_bench")
	vendor.BaseURL, err = url.Parse(providerURL + "/")
	check(err)

	work := &sender{pool: pool, vendor: vendor, left: &atomic.Int64{}}
	workers := river.NewWorkers()
	river.AddWorker(workers, work)
	newClient := func() *river.Client[pgx.Tx] {
		client, err := river.NewClient(driver, &river.Config{
			Queues:        map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: concurrency}},
			Workers:       workers,
			FetchCooldown: time.Millisecond,
			Logger:        slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		check(err)
		return client
	}

	made := 0
	fill := func(count int) {
		jobs := make([]river.InsertManyParams, count)
		for n := range jobs {
			made++
			mail := base
			mail.To = fmt.Sprintf("user%d@example.com", made%50000)
			mail.IdempotencyKey = fmt.Sprintf("river-%d-%d", os.Getpid(), made)
			jobs[n] = river.InsertManyParams{Args: mail}
		}
		_, err := newClient().InsertManyFast(ctx, jobs)
		check(err)
		_, err = pool.Exec(ctx, "vacuum analyze river_job")
		check(err)
	}
	drain := func(count int) {
		work.left.Store(int64(count))
		work.done = make(chan struct{})
		client := newClient()
		check(client.Start(ctx))
		<-work.done
		// Waits for the ends that are not written yet.
		check(client.Stop(ctx))
	}

	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var what string
		var count int
		_, err := fmt.Sscanf(lines.Text(), "%s %d", &what, &count)
		check(err)
		if what == "fill" {
			fill(count)
		} else {
			drain(count)
		}
		fmt.Println("done")
	}
}
