import { PunctualError } from '../../core/errors.ts'
import { placementTexts, USER_LABEL } from '../../core/worker/labels.ts'
import type { Offer } from '../../core/queue/lane.ts'
import type { Hello } from '../../core/wire/protocol.ts'

/** What a worker can run. */
export function offerOf(hello: Hello, projects: readonly string[]): Offer {
  const { queues, labels, executors, slots } = hello
  if (Object.hasOwn(labels, USER_LABEL)) {
    const why = `labels.${USER_LABEL} is no label: list the users in users`
    throw new PunctualError('invalid_field', why, { field: `labels.${USER_LABEL}` })
  }
  return { projects, queues, labels: placementTexts(hello), executors, slots }
}

const OFFERS = 10_000

/**
 * Returns one shared object for all sessions with the same offer, so that derived data can be
 * shared.
 */
export function createOffers(): (offer: Offer) => Offer {
  const offers = new Map<string, Offer>()
  return (offer) => {
    const key = JSON.stringify(offer)
    const known = offers.get(key)
    if (known) return known
    if (offers.size >= OFFERS) offers.clear()
    offers.set(key, offer)
    return offer
  }
}
