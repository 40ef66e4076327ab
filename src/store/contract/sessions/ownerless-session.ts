import assert from 'node:assert/strict'
import type { Store } from '../../port.ts'
import { BINDING, bindingOf } from './session-binding.ts'

/**
 * Sessions of servers that did not store owners: their project may claim one, if it serves only
 * that project. `disown` turns a session into one of those.
 */
export async function tryOwnerless(
  { store, node }: { store: Store; node: number },
  disown: (session: number) => Promise<void>,
): Promise<void> {
  const cases = [
    { projects: ['default'], project: 'default', isEverywhere: false, isTaken: true },
    { projects: ['default'], project: 'other', isEverywhere: false, isTaken: false },
    { projects: [], project: 'default', isEverywhere: false, isTaken: false },
    { projects: ['default', 'other'], project: 'default', isEverywhere: false, isTaken: false },
    { projects: [], project: 'default', isEverywhere: true, isTaken: true },
  ]
  for (const [index, { projects, project, isEverywhere, isTaken }] of cases.entries()) {
    const session = 1_000 + index
    const offer = JSON.stringify({ projects })
    await store.openSession({ ...BINDING, offer, node, session })
    await disown(session)
    const back = bindingOf({ node, session, registration: 2, project, isEverywhere, offer })
    const result = await store.adopt(back)
    assert.equal(typeof result === 'object', isTaken, `${projects.join()} from ${project}`)
    if (!isTaken) assert.equal(result, 'unknown')
    const stranger = { ...back, registration: 3, owner: 'token:9' }
    if (isTaken) assert.equal(await store.adopt(stranger), 'unknown', 'it has an owner now')
  }
}
