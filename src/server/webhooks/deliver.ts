import { type Clock, type Random, randomInt } from '../../core/clock.ts'
import { publicId } from '../../core/ids.ts'
import { DELIVERY_TIMEOUT_MS, evaluateDelivery } from '../../core/webhook/delivery.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { ClaimedDelivery, DeliveryStore } from '../../store/port.ts'
import { auditEntryFor } from '../identity/requested-by.ts'
import type { Sealer } from './sealer.ts'
import { signedHeaders } from './signing.ts'

/** Sends due deliveries, a few at a time; each try is recorded in the store before it counts. */
export interface Deliverer {
  /** Takes as many deliveries as there are free slots, without waiting for them. */
  start(): Promise<void>
  /** Aborts deliveries in progress, and leaves them to other nodes. */
  stop(): Promise<void>
}

/** Concurrent tries: of this node, and to one endpoint. */
const AT_ONCE = 32
const MAX_PER_ENDPOINT = 4
/** Longer than any try takes: after this, deliveries of a dead node are tried again. */
const LEASE_MS = 2 * DELIVERY_TIMEOUT_MS
/** The response body of an endpoint is read up to this size. */
const ANSWER_BYTES = 1_024
const CLAIMS = 2 ** 48

export const DELIVERY_OUTCOMES = ['delivered', 'retried', 'failed'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

interface DelivererDeps {
  readonly store: DeliveryStore
  readonly outbound: Outbound
  readonly sealer: Pick<Sealer, 'open'>
  readonly clock: Clock
  readonly random: Random
  storeNow(): number
  /** A slot is free again. */
  onSlotFree(): void
  onOutcome(outcome: DeliveryOutcome): void
  onError(error: unknown): void
}

export function createDeliverer(deps: DelivererDeps): Deliverer {
  const { store, random } = deps
  const stopping = new AbortController()
  const underWay = new Map<Promise<void>, number>()

  const busy = () => {
    const counts = new Map<number, number>()
    for (const webhookId of underWay.values()) {
      counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1)
    }
    return [...counts].map(([webhookId, count]) => ({ webhookId, count }))
  }

  return {
    async start() {
      const limit = AT_ONCE - underWay.size
      if (limit <= 0 || stopping.signal.aborted) return
      const claim = randomInt(random, CLAIMS)
      const claimed = await store.claimDeliveries({
        claim,
        leaseMs: LEASE_MS,
        limit,
        perWebhook: MAX_PER_ENDPOINT,
        busy: busy(),
      })
      for (const delivery of claimed) {
        const trying = tryOnce(delivery, claim, deps, stopping.signal)
          // It stays claimed until its lease ends, and is tried again then.
          .catch(deps.onError)
          .finally(() => {
            underWay.delete(trying)
            deps.onSlotFree()
          })
        underWay.set(trying, delivery.webhookId)
      }
    },

    async stop() {
      stopping.abort('stopping')
      await Promise.all(underWay.keys())
    },
  }
}

/** Returns the status of the answer. */
async function send(
  delivery: ClaimedDelivery,
  { outbound, sealer, storeNow }: DelivererDeps,
  signal: AbortSignal,
): Promise<number> {
  const { id, url, body, projectId } = delivery
  const secrets = await sealer.open(projectId, delivery.secrets)
  const message = { id: publicId('dlv', id), body, at: Math.floor(storeNow() / 1_000) }
  const { status } = await outbound.send({
    url,
    method: 'POST',
    headers: signedHeaders(message, secrets),
    body,
    timeoutMs: DELIVERY_TIMEOUT_MS,
    maxResponseBytes: ANSWER_BYTES,
    // A redirect is an error: the owner of the webhook should update its URL, and a redirect
    // could lead anywhere.
    maxRedirects: 0,
    signal,
  })
  return status
}

/** Sends a delivery and stores the outcome; a delivery that is interrupted by the stop of the node stays pending. */
async function tryOnce(
  delivery: ClaimedDelivery,
  claim: number,
  deps: DelivererDeps,
  stopping: AbortSignal,
): Promise<void> {
  const { store, clock } = deps
  const startedAt = clock.mono()
  const answer = await send(delivery, deps, stopping).then(
    (status) => ({ status, error: errorOf(status) }),
    (error: unknown) => ({ status: null, error: (error as Error).message }),
  )
  const { id, webhookId } = delivery
  const tried = { id, webhookId, claim, tookMs: Math.round(clock.mono() - startedAt) }
  if (answer.status === null && stopping.aborted) {
    const left = {
      waitMs: 0,
      state: 'pending',
      status: null,
      error: null,
      disable: null,
    } as const
    await store.settleDelivery({ ...tried, ...left })
    return
  }
  const verdict = evaluateDelivery(delivery, answer.status, deps.storeNow())
  const isOver = verdict.to !== 'retry'
  await store.settleDelivery({
    ...tried,
    ...answer,
    waitMs: isOver ? null : verdict.waitMs,
    state: verdict.to === 'delivered' ? 'delivered' : isOver ? 'failed' : 'pending',
    disable: verdict.to === 'gone' ? becauseGone(delivery) : null,
  })
  deps.onOutcome(verdict.to === 'delivered' ? 'delivered' : isOver ? 'failed' : 'retried')
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  const isRedirect = status >= 300 && status < 400
  return `it answered ${status}${isRedirect ? '; redirects are not followed' : ''}`
}

const NO_REQUESTER = { project: '', actor: null, request: null, address: null }

function becauseGone({ projectId, webhook }: ClaimedDelivery) {
  const reason = 'the endpoint answered 410 Gone'
  return {
    reason,
    audit: auditEntryFor(NO_REQUESTER, projectId, 'webhook.disable', webhook, { reason }),
  }
}
