import type { TokenStore } from '../../store/port.ts'
import { ROOT } from './caller.ts'

/** Names of tokens, for people who want to know who it was. */
export interface Actors {
  names(): Promise<(actor: number | null) => string>
}

export function createActors(store: Pick<TokenStore, 'listTokens'>): Actors {
  return {
    async names() {
      const tokens = await store.listTokens({ projectId: null })
      const byId = new Map(tokens.map(({ id, name }) => [id, name]))
      return (actor) => (actor === null ? ROOT.name : (byId.get(actor) ?? `token ${actor}`))
    },
  }
}
