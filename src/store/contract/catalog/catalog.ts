import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PunctualError } from '../../../core/errors.ts'
import type { LaneSpec } from '../../../core/queue/lane.ts'
import { LIMITS } from '../../../core/limits.ts'
import { at, only } from '../fixture.ts'
import { onSharedStore, type OpenStore } from '../world.ts'

const SPEC: LaneSpec = {
  project: 'alpha',
  queue: 'mail',
  labels: ['arch=arm64', 'gpu'],
  executor: 'handler:send',
  weight: 1,
}

const SAME_LANE: readonly [why: string, other: Partial<LaneSpec>][] = [
  ['identical labels', {}],
  ['labels in another order', { labels: ['gpu', 'arch=arm64'] }],
]

const OTHER_LANE: readonly [why: string, other: Partial<LaneSpec>][] = [
  ['another queue', { queue: 'Mail' }],
  ['another project', { project: 'beta' }],
  ['one label fewer', { labels: ['gpu'] }],
  ['one label of the two joined', { labels: ['arch=arm64,gpu'] }],
  ['another executor', { executor: 'handler:sends' }],
  ['another weight', { weight: 2 }],
]

export function catalogContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  for (const [why, other] of SAME_LANE) {
    test(
      `${why} make the same lane`,
      inWorld(async ({ store }) => {
        const first = only(await store.internLanes([SPEC]))
        assert.deepEqual(await store.internLanes([{ ...SPEC, ...other }]), [first])
      }),
    )
  }

  for (const [why, other] of OTHER_LANE) {
    test(
      `${why} is not the same lane`,
      inWorld(async ({ store }) => {
        const lanes = await store.internLanes([SPEC, { ...SPEC, ...other }])
        assert.notEqual(lanes[0], lanes[1])
      }),
    )
  }

  test(
    'a name gets the same id every time, in the order of the request, also when repeated in it',
    inWorld(async ({ store, project }) => {
      const [a, b, again] = await store.internProjects(['a', 'b', 'a'])
      assert.equal(a, again)
      assert.deepEqual(await store.internProjects(['b', 'a']), [b, a])
      const jobs = await store.internJobs([
        { projectId: project, name: 'j1' },
        { projectId: project, name: 'j2' },
        { projectId: project, name: 'j1' },
      ])
      assert.equal(jobs[0], jobs[2])
      assert.notEqual(jobs[0], jobs[1])
      const [left, right] = await Promise.all([
        store.internProjects(['x', 'y', 'z']),
        store.internProjects(['z', 'y', 'x']),
      ])
      assert.deepEqual(left, right.toReversed())
    }),
  )

  test(
    'names differing in case, accents or blanks are different names',
    inWorld(async ({ store }) => {
      const names = [
        'job',
        'Job',
        'j\u00f6b',
        'jo\u0308b',
        'job ',
        ' job',
        "job'; DROP TABLE run; --",
        '',
      ]
      const numbers = await store.internProjects(names)
      assert.equal(new Set(numbers).size, names.length)
      assert.deepEqual(await store.internProjects(names), numbers)
    }),
  )

  test(
    'a job of one name in two projects is two jobs',
    inWorld(async ({ store, project, otherProject }) => {
      const jobs = await store.internJobs([
        { projectId: project, name: 'same' },
        { projectId: otherProject, name: 'same' },
      ])
      assert.notEqual(jobs[0], jobs[1])
    }),
  )

  test(
    'ids are mapped back to names; unknown ids are left out',
    inWorld(async ({ store, project, projectName, job }) => {
      const missing = 2 ** 31 - 1
      assert.deepEqual(await store.jobNames([job, missing]), new Map([[job, 'tidy-inbox']]))
      assert.deepEqual(
        await store.projectNames([missing, project]),
        new Map([[project, projectName]]),
      )
      assert.deepEqual(await store.jobNames([]), new Map())
      assert.deepEqual(await store.projectNames([]), new Map())
    }),
  )

  test(
    'an empty request interns nothing',
    inWorld(async ({ store, lane }) => {
      assert.deepEqual(await store.internProjects([]), [])
      assert.deepEqual(await store.internJobs([]), [])
      assert.deepEqual(await store.internLanes([]), [])
      assert.deepEqual(await store.internGates([]), [])
      assert.deepEqual(await store.lanesAfter(lane), [])
    }),
  )

  test(
    'lanes interned after a given lane are listed completely, oldest first, each once',
    inWorld(async ({ store, lane }) => {
      const specs = ['a', 'b', 'c'].map((queue, index) => ({
        ...SPEC,
        queue,
        labels: ['arch=arm64', 'gpu'].slice(0, index),
        weight: index + 1,
      }))
      const numbers: number[] = []
      for (const spec of specs) numbers.push(only(await store.internLanes([spec])))
      await store.internLanes(specs)
      const expected = specs.map((spec, index) => ({ id: at(numbers, index), ...spec }))
      assert.deepEqual(await store.lanesAfter(lane), expected)
      assert.deepEqual(await store.lanesAfter(at(numbers, 1)), expected.slice(2))
      assert.deepEqual((await store.lanesAfter(0)).slice(-3), expected)
    }),
  )

  test(
    'a gate keeps its id when its capacity changes, and the last write wins',
    inWorld(async (world) => {
      const gate = await world.gate('door', 5)
      assert.equal(await world.gate('door', 1), gate)
      await world.submit(...world.newRuns(3, { gates: [gate] }))
      assert.equal((await world.store.liveCounts()).ready, 1)
      const twice = [3, 2].map((capacity) => ({ projectId: world.project, name: 'door', capacity }))
      assert.deepEqual(await world.store.internGates(twice), [gate, gate])
      world.clock.advance(3_600_000)
      await world.store.recheck({ limit: 10, recheckMs: 1_000 })
      assert.equal((await world.store.liveCounts()).ready, 2)
    }),
  )

  test(
    'a project has a maximum number of lanes, and keeps those it has',
    inWorld(async ({ store }) => {
      const specs = Array.from({ length: LIMITS.lanesPerProject }, (_, index) => ({
        ...SPEC,
        project: 'greedy',
        queue: `q${index}`,
      }))
      const lanes: number[] = []
      for (let from = 0; from < specs.length; from += 500) {
        lanes.push(...(await store.internLanes(specs.slice(from, from + 500))))
      }
      assert.equal(new Set(lanes).size, LIMITS.lanesPerProject)
      const tooMany = (error: unknown) =>
        error instanceof PunctualError && error.code === 'too_many_lanes'
      await assert.rejects(store.internLanes([{ ...SPEC, project: 'greedy' }]), tooMany)
      await assert.rejects(store.internLanes([{ ...SPEC, project: 'greedy' }, SPEC]), tooMany)
      assert.deepEqual(await store.internLanes([at(specs, 9)]), [lanes[9]])
      assert.equal((await store.internLanes([{ ...SPEC, project: 'modest' }])).length, 1)
    }),
  )
}
