-- A key may be in doubt at two providers: then no call asks either any more (`tornAt` in the domain).
-- Rules: docs/reference/specification/sending.md (MAIL-43).

alter type email_claim_decision add attribute torn boolean;
