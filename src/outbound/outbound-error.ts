/**
 * Why a request did not bring an answer. The `…_refused` ones are our own decision, taken before
 * anything was sent to the address in question.
 */
export type OutboundCode =
  | 'url_refused'
  | 'header_refused'
  | 'address_refused'
  | 'redirect_refused'
  | 'name_unknown'
  | 'unreachable'
  | 'timed_out'
  | 'aborted'

export class OutboundError extends Error {
  readonly code: OutboundCode

  constructor(code: OutboundCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OutboundError'
    this.code = code
  }

  /** We would not call it, now or later. */
  get isRefusal(): boolean {
    return this.code.endsWith('_refused')
  }
}
