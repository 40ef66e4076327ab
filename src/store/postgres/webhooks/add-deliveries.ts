import type { NewDelivery } from '../../port.ts'
import { bigints, ints, texts } from '../connection/binary-arrays.ts'
import { CLOCK, type Work } from '../connection/statement.ts'

/**
 * A test goes to a webhook that is disabled too: people try before they switch it on. The webhooks
 * are locked against being disabled or deleted before this is committed.
 */
const ADD_DELIVERIES = {
  name: 'add-deliveries',
  text: `
  WITH ${CLOCK},
  open AS MATERIALIZED (
    SELECT id, enabled FROM webhook WHERE id = ANY ($3::int[]) ORDER BY id FOR SHARE)
  INSERT INTO delivery (id, webhook_id, run_id, event, body, state, attempts, since, created_at,
                        next_at)
  SELECT item.id, webhook_id, run_id, event, body, 0, 0, now, now, now
    FROM unnest($2::bigint[], $3::int[], $4::bigint[], $5::text[], $6::text[])
      AS item (id, webhook_id, run_id, event, body)
    JOIN open ON open.id = webhook_id AND (enabled OR run_id IS NULL)
   CROSS JOIN clock
  RETURNING id`,
}

/** Says for how many of them there is somebody to deliver to. */
export async function addDeliveries(
  work: Work,
  now: number | null,
  deliveries: readonly NewDelivery[],
): Promise<number> {
  const rows = await work.query(ADD_DELIVERIES, [
    now,
    bigints(deliveries.map(({ id }) => id)),
    ints(deliveries.map(({ webhookId }) => webhookId)),
    bigints(deliveries.map(({ runId }) => runId)),
    texts(deliveries.map(({ event }) => event)),
    texts(deliveries.map(({ body }) => body)),
  ])
  return rows.length
}
