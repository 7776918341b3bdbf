-- A claim is written twice, the second time with the result: with room on its page the second one touches no index.
alter table email_send_claims set (fillfactor = 40);
