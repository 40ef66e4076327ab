import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TokenRecord } from '../../store/port.ts'
import { createAuthenticator } from './authenticator.ts'
import { ROOT } from './caller.ts'
import { tokenDigestOf } from './token.ts'

const TOKEN = 'pun_admin_of_this_node'
const LONG_MS = 60_000

/** An authenticator over a store with at most one row. */
function setUp({ isRootStored }: { isRootStored: boolean }) {
  let mono = 0
  const state: { row: Partial<TokenRecord> | null; isAway: boolean } = { row: null, isAway: false }
  const dead: [tokenId: number, isOfInstallation: boolean][] = []
  const authenticator = createAuthenticator({
    onDead: (...token) => void dead.push(token),
    store: {
      async findToken(hash) {
        if (state.isAway) throw new Error('the store is away')
        const row = { projectId: null, revokedAt: null, expiresAt: null, ...state.row }
        return state.row && hash === tokenDigestOf(TOKEN) ? (row as TokenRecord) : null
      },
      projectNames: async () => new Map(),
      expireTokens: async () => {},
    },
    clock: { now: () => 0, mono: () => mono, sleep: async () => {} },
    storeNow: () => 7,
    rootToken: TOKEN,
    isRootStored,
    mayExpire: () => true,
  })
  return {
    authenticator,
    state,
    dead,
    identify: async () => authenticator.identify(TOKEN),
    later: () => (mono += LONG_MS),
  }
}

test('a node token that is not stored needs no store', async () => {
  const { state, identify } = setUp({ isRootStored: false })
  state.isAway = true
  assert.equal(await identify(), ROOT)
})

test('a stored admin token is the same caller on every node, and its use is noted', async () => {
  const { authenticator, state, identify } = setUp({ isRootStored: true })
  state.row = { id: 3, name: 'admin-token of a:/data', role: 'admin' }
  assert.equal(await identify(), ROOT)
  assert.equal(await identify(), ROOT)
  assert.deepEqual(authenticator.takeUses(), [{ id: 3, at: 7 }])
})

test('a revoked token is reported, and whether it was that of the installation', async () => {
  const { state, identify, later, dead } = setUp({ isRootStored: true })
  state.row = { id: 3, name: 'admin-token of a:/data', role: 'admin', revokedAt: 1 }
  assert.equal(await identify(), null)
  state.row = { id: 4, name: 'ci', role: 'admin', projectId: 1, revokedAt: 1 }
  later()
  assert.equal(await identify(), null)
  assert.deepEqual(dead, [
    [3, true],
    [4, false],
  ])
})

test('without the store, a stored admin token keeps its last known state', async () => {
  const { state, identify, later } = setUp({ isRootStored: true })
  state.isAway = true
  await assert.rejects(identify, /the store is away/)
  state.isAway = false
  state.row = { id: 3, name: 'admin-token of a:/data', role: 'admin' }
  assert.equal(await identify(), ROOT)
  state.isAway = true
  later()
  assert.equal(await identify(), ROOT)
  state.isAway = false
  state.row = { ...state.row, revokedAt: 1 }
  later()
  assert.equal(await identify(), null)
  state.isAway = true
  later()
  assert.equal(await identify(), null)
})
