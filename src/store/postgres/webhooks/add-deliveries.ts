import type { NewDelivery } from '../../port.ts'
import { bigints, ints, texts } from '../connection/binary-arrays.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'

/**
 * A test delivery also goes to a disabled webhook: users try it before they enable it. The webhooks
 * are locked against being disabled or deleted until this commits.
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

/** Returns how many of the deliveries have a webhook. */
export async function addDeliveries(
  tx: Queryable,
  now: number | null,
  deliveries: readonly NewDelivery[],
): Promise<number> {
  const rows = await tx.query(ADD_DELIVERIES, [
    now,
    bigints(deliveries.map(({ id }) => id)),
    ints(deliveries.map(({ webhookId }) => webhookId)),
    bigints(deliveries.map(({ runId }) => runId)),
    texts(deliveries.map(({ event }) => event)),
    texts(deliveries.map(({ body }) => body)),
  ])
  return rows.length
}
