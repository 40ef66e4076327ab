import type { TokenStore } from '../../store/port.ts'
import type { Authenticator } from '../identity/authenticator.ts'
import type { Step } from './run-loop.ts'

/** Writes down now and then which tokens were used: people ask before they revoke one. */
export function noteUses(deps: {
  store: Pick<TokenStore, 'touchTokens'>
  authenticator: Pick<Authenticator, 'takeUses'>
}): Step {
  return async () => {
    const uses = deps.authenticator.takeUses()
    if (uses.length > 0) await deps.store.touchTokens(uses)
    return { more: false }
  }
}
