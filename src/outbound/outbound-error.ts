/**
 * Why a request got no answer. The `…_refused` codes are decisions of this server, taken before
 * anything was sent to the address.
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

  /** The address, port or header is forbidden, so a retry would fail the same way. */
  get isRefusal(): boolean {
    return this.code.endsWith('_refused')
  }
}
