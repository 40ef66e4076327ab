/** Where runs wait that name no queue. */
export const DEFAULT_QUEUE = 'default'

/**
 * Where jobs wait that came by the plain paths. Workers that speak the plain protocol serve this
 * queue alone: whoever puts a run elsewhere counts on more than they can do.
 */
export const PLAIN_QUEUE = 'plain'

/** What a worker of ours serves that was told of no queue. */
export const USUAL_QUEUES = [DEFAULT_QUEUE, PLAIN_QUEUE] as const
