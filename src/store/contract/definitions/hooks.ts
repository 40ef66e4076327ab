import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

async function define(
  world: StoreWorld,
  name: string,
  hooks: readonly string[],
  projectId = world.project,
): Promise<void> {
  const definition = JSON.stringify({ run: name, triggers: hooks })
  await world.store.putJob({
    projectId,
    name,
    definition,
    hooks,
    expect: null,
    audit: note(projectId, 'job.put'),
  })
}

function note(projectId: number, action: string) {
  const noRequester = { actor: null, request: null, address: null }
  return { projectId, action, target: 'x', detail: null, ...noRequester }
}

export function hooksContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const ofHook = async ({ store, project }: StoreWorld, name: string) =>
    (await store.jobsOfHook({ projectId: project, name })).map((job) => job.name)

  test(
    'a hook finds the jobs that name it, in its project',
    inWorld(async (world) => {
      await define(world, 'report', ['orders', 'orders', 'refunds'])
      await define(world, 'bill', ['orders'])
      await define(world, 'elsewhere', ['orders'], world.otherProject)
      await define(world, 'nightly', [])
      assert.deepEqual(await ofHook(world, 'orders'), ['report', 'bill'])
      assert.deepEqual(await ofHook(world, 'refunds'), ['report'])
      assert.deepEqual(await ofHook(world, 'order'), [])
    }),
  )

  test(
    'only definitions in force count, and paused jobs are marked',
    inWorld(async (world) => {
      const { store, project: projectId } = world
      await define(world, 'report', ['orders'])
      await define(world, 'report', ['refunds'])
      assert.deepEqual(await ofHook(world, 'orders'), [])
      const audit = note(projectId, 'job.pause')
      await store.pauseJob({ projectId, name: 'report', pause: { reason: null }, audit })
      const paused = await store.jobsOfHook({ projectId, name: 'refunds' })
      assert.deepEqual(paused, [{ name: 'report', isPaused: true }])
      await store.deleteJob({ projectId, name: 'report', expect: null, audit })
      assert.deepEqual(await ofHook(world, 'refunds'), [])
      await define(world, 'report', [])
      assert.deepEqual(await ofHook(world, 'refunds'), [])
    }),
  )
}
