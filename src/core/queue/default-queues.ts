/** The queue of runs that name none. */
export const DEFAULT_QUEUE = 'default'

/**
 * The queue of jobs submitted through the compat API. Workers that use the compat protocol serve only this queue:
 * runs in other queues may need features that these workers do not have.
 */
export const COMPAT_QUEUE = 'plain'

/** The queues that a Punctual worker serves by default. */
export const DEFAULT_WORKER_QUEUES = [DEFAULT_QUEUE, COMPAT_QUEUE] as const
