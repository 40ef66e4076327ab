import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only } from '../fixture.ts'
import { auditEntry, deliverTo, findTestWebhook, putTestWebhook } from './webhook-fixture.ts'
import { onSharedStore, type OpenStore } from '../world.ts'

export function webhooksContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a webhook is put, found, listed by name, changed and deleted',
    inWorld(async (world) => {
      const { store, project } = world
      assert.equal(await store.findWebhook({ projectId: project, name: 'pager' }), null)
      assert.equal(await putTestWebhook(world, { jobs: '["etl-*"]' }), 'created')
      const made = await findTestWebhook(world)
      const at = world.clock.now()
      assert.deepEqual(made, {
        id: made.id,
        projectId: project,
        name: 'pager',
        url: 'https://example.com/hook',
        events: 3,
        jobs: '["etl-*"]',
        enabled: true,
        disabledReason: null,
        secret: { sealed: 'sealed one', ending: 'one' },
        previous: null,
        failingSince: null,
        createdAt: at,
        createdBy: 7,
        updatedAt: at,
      })
      world.clock.advance(5)
      const secret = { sealed: 'another', ending: 'x' }
      assert.equal(await putTestWebhook(world, { url: 'https://b.example', secret }), 'changed')
      const changed = { ...made, url: 'https://b.example', jobs: null, updatedAt: at + 5 }
      assert.deepEqual(await findTestWebhook(world), changed, 'the secret stays')
      await putTestWebhook(world, { name: 'B' })
      const list = await store.listWebhooks({ projectId: project })
      assert.deepEqual(
        list.map(({ name }) => name),
        ['B', 'pager'],
      )
      assert.deepEqual(await store.listWebhooks({ projectId: world.otherProject }), [])
      const gone = { projectId: project, name: 'pager', audit: auditEntry(world, 'webhook.delete') }
      assert.equal(await store.deleteWebhook(gone), true)
      assert.equal(await store.deleteWebhook(gone), false)
      assert.equal(await store.findWebhook({ projectId: project, name: 'pager' }), null)
      const entries = await store.listAudit({ projectId: project, before: 2 ** 52, limit: 9 })
      assert.deepEqual(
        entries.map(({ action }) => action),
        ['webhook.delete', 'webhook.put', 'webhook.put', 'webhook.put'],
      )
    }),
  )

  test(
    'a name is unique, and a project has a maximum number of webhooks',
    inWorld(async (world) => {
      assert.equal(await putTestWebhook(world, { onlyIfNew: true, maxWebhooks: 1 }), 'created')
      assert.equal(await putTestWebhook(world, { onlyIfNew: true, maxWebhooks: 1 }), 'exists')
      assert.equal(await putTestWebhook(world, { maxWebhooks: 1 }), 'changed')
      assert.equal(await putTestWebhook(world, { name: 'two', maxWebhooks: 1 }), 'full')
      const projectId = world.otherProject
      assert.equal(
        await putTestWebhook(world, { projectId, name: 'two', maxWebhooks: 1 }),
        'created',
      )
    }),
  )

  test(
    'two concurrent puts of one name create one webhook',
    inWorld(async (world) => {
      const results = await Promise.all([
        putTestWebhook(world, { onlyIfNew: true }),
        putTestWebhook(world, { onlyIfNew: true }),
      ])
      assert.deepEqual(results.toSorted(), ['created', 'exists'])
      only(await world.store.listWebhooks({ projectId: world.project }))
    }),
  )

  test(
    'the secret before a new one stays valid for a while, and no older one',
    inWorld(async (world) => {
      const { store, project } = world
      await putTestWebhook(world)
      const rotate = (ending: string) =>
        store.rotateWebhook({
          projectId: project,
          name: 'pager',
          keepMs: 1_000,
          secret: { sealed: `sealed ${ending}`, ending },
          audit: auditEntry(world, 'webhook.rotate'),
        })
      assert.equal(await rotate('two'), true)
      const until = world.clock.now() + 1_000
      assert.deepEqual((await findTestWebhook(world)).previous, { sealed: 'sealed one', until })
      await deliverTo(world)
      const take = async () => {
        const claimed = await store.claimDeliveries({
          claim: 1,
          leaseMs: 10,
          limit: 1_000,
          perWebhook: 9,
          busy: [],
        })
        return only(claimed.filter(({ projectId }) => projectId === project)).secrets
      }
      assert.deepEqual(await take(), ['sealed two', 'sealed one'])
      await rotate('three')
      world.clock.advance(999)
      assert.deepEqual(await take(), ['sealed three', 'sealed two'])
      world.clock.advance(11)
      assert.deepEqual(await take(), ['sealed three'])
      const audit = auditEntry(world, 'webhook.rotate')
      const secret = { sealed: 's', ending: 'e' }
      const missing = { projectId: project, name: 'nobody', keepMs: 1, secret, audit }
      assert.equal(await store.rotateWebhook(missing), false)
    }),
  )
}
