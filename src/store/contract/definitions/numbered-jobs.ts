import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

const NEWEST = Number.MAX_SAFE_INTEGER

async function define(
  world: StoreWorld,
  name: string,
  { owner, projectId = world.project }: { owner?: string; projectId?: number } = {},
): Promise<number> {
  const definition = JSON.stringify({ run: name, ...(owner && { owner }) })
  const audit = {
    projectId,
    actor: null,
    action: 'job.put',
    target: name,
    detail: null,
    request: null,
    address: null,
  }
  const owned = owner === undefined ? {} : { owner }
  await world.store.putJob({ projectId, name, definition, ...owned, expect: null, audit })
  return (await world.store.findJob({ projectId, name })) as number
}

/** An owner that no other test uses in the shared store. */
function uniqueOwner(world: StoreWorld): string {
  return `someone of ${world.projectName}`
}

export function numberedJobsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a job is found by its number, with its project and the time of its first definition',
    inWorld(async (world) => {
      const since = world.clock.now()
      const id = await define(world, 'first')
      world.clock.advance(5_000)
      await define(world, 'first', { owner: 'ada' })
      const found = await world.store.findNumberedJob({ id })
      assert.deepEqual(found, {
        id,
        projectId: world.project,
        name: 'first',
        version: 2,
        paused: null,
        since,
        definition: '{"run":"first","owner":"ada"}',
        createdAt: world.clock.now(),
        createdBy: null,
      })
    }),
  )

  test(
    'a number that is no job, or a job without a definition, finds nothing',
    inWorld(async (world) => {
      assert.equal(await world.store.findNumberedJob({ id: 2 ** 31 - 1 }), null)
      assert.equal(await world.store.findNumberedJob({ id: world.job }), null)
    }),
  )

  test(
    'jobs of a project are listed newest first, a page at a time',
    inWorld(async (world) => {
      const ids = [await define(world, 'z'), await define(world, 'a'), await define(world, 'm')]
      await define(world, 'elsewhere', { projectId: world.otherProject })
      const list = async (before: number, limit: number) =>
        (await world.store.listNumberedJobs({ projectId: world.project, before, limit })).map(
          ({ id }) => id,
        )
      assert.deepEqual(await list(NEWEST, 10), ids.toReversed())
      assert.deepEqual(await list(NEWEST, 2), ids.toReversed().slice(0, 2))
      assert.deepEqual(await list(ids[1] as number, 10), ids.slice(0, 1))
    }),
  )

  test(
    'jobs of an owner are listed in all projects or in one, and only while the owner is named',
    inWorld(async (world) => {
      const owner = uniqueOwner(world)
      const mine = await define(world, 'mine', { owner })
      const there = await define(world, 'mine', { owner, projectId: world.otherProject })
      await define(world, 'theirs', { owner: `${owner} else` })
      await define(world, 'given-away', { owner })
      await define(world, 'given-away', { owner: `${owner} else` })
      const list = async (projectId: number | null) => {
        const page = { owner, projectId, before: NEWEST, limit: 10 }
        return (await world.store.listOwnedJobs(page)).map(({ id }) => id)
      }
      assert.deepEqual(await list(null), [there, mine])
      assert.deepEqual(await list(world.project), [mine])
      assert.deepEqual(await list(world.otherProject), [there])
    }),
  )
}
