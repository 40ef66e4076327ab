import type { TokenStore } from '../../store/port.ts'
import { ROOT } from './caller.ts'

/** Webhook calls have no token because they are signed. Ids of tokens begin with 1. */
export const HOOK_ACTOR = 0

/** Names of tokens, to show who made a change. */
export interface Actors {
  names(): Promise<(actor: number | null) => string>
}

export function createActors(store: Pick<TokenStore, 'listTokens'>): Actors {
  return {
    async names() {
      const tokens = await store.listTokens({ projectId: null })
      const byId = new Map(tokens.map(({ id, name }) => [id, name]))
      byId.set(HOOK_ACTOR, 'a hook')
      return (actor) => (actor === null ? ROOT.name : (byId.get(actor) ?? `token ${actor}`))
    },
  }
}
