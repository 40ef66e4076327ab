import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '../../port.ts'
import { onFreshStores, onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const OLD = { id: 'old', check: 'check of old' }
const NEW = { id: 'new', check: 'check of new' }
const FIRST = { projectId: 0, name: '' }

function note(world: StoreWorld, action: string): AuditEntry {
  const defaults = { target: 'x', detail: null, request: 'req_1', address: '127.0.0.1' }
  return { projectId: world.project, actor: 7, action, ...defaults }
}

function put(
  world: StoreWorld,
  name: string,
  sealed: string,
  key = OLD,
  projectId = world.project,
) {
  return world.store.putSecret({ projectId, name, sealed, key, audit: note(world, 'secret.put') })
}

async function record(world: StoreWorld): Promise<string[]> {
  const page = { projectId: world.project, before: Number.MAX_SAFE_INTEGER, limit: 9 }
  return (await world.store.listAudit(page)).map(({ action }) => action)
}

export function secretsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const inFreshWorld = onFreshStores(open)
  const list = (world: StoreWorld, after = '', limit = 10) =>
    world.store.listSecrets({ projectId: world.project, after, limit })
  const find = async (world: StoreWorld, name: string) =>
    (await world.store.findSecrets([{ projectId: world.project, name }]))[0]

  test(
    'a secret is put, found by its project and name, and listed without its sealed text',
    inWorld(async (world) => {
      const { project: projectId } = world
      const shown = { version: 1, keyId: 'old', updatedAt: world.clock.now(), updatedBy: 7 }
      assert.deepEqual(await put(world, 'B_2', 'sealed b'), { projectId, name: 'B_2', ...shown })
      await put(world, 'a_1', 'sealed a')
      await put(world, 'B_2', 'elsewhere', OLD, world.otherProject)
      const asked = [
        { projectId, name: 'a_1' },
        { projectId, name: 'nobody' },
        { projectId: world.otherProject, name: 'B_2' },
        { projectId, name: 'B_2' },
      ]
      assert.deepEqual(await world.store.findSecrets(asked), [
        { projectId, name: 'a_1', keyId: 'old', sealed: 'sealed a' },
        null,
        { projectId: world.otherProject, name: 'B_2', keyId: 'old', sealed: 'elsewhere' },
        { projectId, name: 'B_2', keyId: 'old', sealed: 'sealed b' },
      ])
      assert.deepEqual(await world.store.findSecrets([]), [])
      assert.deepEqual(await list(world), [
        { projectId, name: 'B_2', ...shown },
        { projectId, name: 'a_1', ...shown },
      ])
      assert.deepEqual(
        (await list(world, 'B_2', 1)).map(({ name }) => name),
        ['a_1'],
      )
    }),
  )

  test(
    'another put is the next version; removing it is audited once',
    inWorld(async (world) => {
      await put(world, 'A', 'one')
      world.clock.advance(1_000)
      assert.equal((await put(world, 'A', 'two', NEW)).version, 2)
      assert.equal((await find(world, 'A'))?.sealed, 'two')
      const [shown] = await list(world)
      assert.deepEqual([shown?.version, shown?.keyId], [2, 'new'])
      assert.equal(shown?.updatedAt, world.clock.now())
      const remove = () => {
        const audit = note(world, 'secret.delete')
        return world.store.removeSecret({ projectId: world.project, name: 'A', audit })
      }
      assert.deepEqual([await remove(), await remove()], [true, false])
      assert.equal(await find(world, 'A'), null)
      assert.deepEqual(await record(world), ['secret.delete', 'secret.put', 'secret.put'])
    }),
  )

  test(
    'seals are replaced in pages, and only where nothing changed meanwhile',
    inFreshWorld(async (world) => {
      const { store, project: projectId, otherProject } = world
      for (const name of ['A', 'B', 'C']) await put(world, name, `old ${name}`)
      await put(world, 'A', 'old A', OLD, otherProject)
      await put(world, 'D', 'new D', NEW)
      const read = await store.secretsWithoutKey({ keyId: 'new', after: FIRST, limit: 2 })
      assert.deepEqual(read, [
        { projectId, name: 'A', keyId: 'old', sealed: 'old A' },
        { projectId, name: 'B', keyId: 'old', sealed: 'old B' },
      ])
      // One of them is put again before its seal is replaced.
      await put(world, 'B', 'newer B')
      const secrets = read.map((secret) => ({ ...secret, resealed: `new ${secret.name}` }))
      const audit = note(world, 'secret.rotate')
      assert.equal(await store.resealSecrets({ key: NEW, secrets, audit }), 1)
      assert.equal(await store.resealSecrets({ key: NEW, secrets, audit }), 0)
      assert.deepEqual((await record(world)).slice(0, 2), ['secret.rotate', 'secret.put'])
      assert.deepEqual(
        (await list(world)).map(({ name, version, keyId }) => [name, version, keyId]),
        [
          ['A', 1, 'new'],
          ['B', 2, 'old'],
          ['C', 1, 'old'],
          ['D', 1, 'new'],
        ],
      )
      assert.equal((await find(world, 'A'))?.sealed, 'new A')
      assert.equal((await find(world, 'B'))?.sealed, 'newer B')
      const rest = await store.secretsWithoutKey({
        keyId: 'new',
        limit: 9,
        after: { projectId, name: 'B' },
      })
      assert.deepEqual(
        rest.map((secret) => [secret.projectId, secret.name]),
        [
          [projectId, 'C'],
          [otherProject, 'A'],
        ],
      )
    }),
  )

  test(
    'a key is stored while anything is sealed with it',
    inFreshWorld(async (world) => {
      const { store } = world
      assert.deepEqual(await store.secretKeys(), [])
      await put(world, 'A', 'one')
      await put(world, 'B', 'two')
      await put(world, 'C', 'three', NEW)
      await put(world, 'C', 'again', { ...NEW, check: 'another check' })
      assert.deepEqual(await store.secretKeys(), [
        { ...NEW, secrets: 1 },
        { ...OLD, secrets: 2 },
      ])
      await store.forgetUnusedKeys({ except: 'new' })
      assert.equal((await store.secretKeys()).length, 2)
      for (const name of ['A', 'B', 'C']) await put(world, name, 'anew', NEW)
      await store.forgetUnusedKeys({ except: 'new' })
      assert.deepEqual(await store.secretKeys(), [{ ...NEW, secrets: 3 }])
    }),
  )

  test(
    'live nodes announce which keys they have',
    inFreshWorld(async (world) => {
      const { store } = world
      assert.deepEqual(await store.nodesWithoutKey({ keyId: 'new' }), ['node'])
      await store.announceKeys({ node: world.node, keys: ['old', 'new'] })
      assert.deepEqual(await store.nodesWithoutKey({ keyId: 'new' }), [])
      assert.deepEqual(await store.nodesWithoutKey({ keyId: 'ne' }), ['node'])
      const other = await world.join('late')
      // In an exclusive store, a node that joins is the only one.
      assert.deepEqual(await store.nodesWithoutKey({ keyId: 'new' }), ['late'])
      await store.announceKeys({ node: other.node, keys: [] })
      assert.deepEqual(await store.nodesWithoutKey({ keyId: 'new' }), ['late'])
      await store.leave({ node: other.node, idMark: 0 })
      assert.deepEqual(await store.nodesWithoutKey({ keyId: 'new' }), [])
    }),
  )
}
