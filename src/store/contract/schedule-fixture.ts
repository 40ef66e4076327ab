import assert from 'node:assert/strict'
import type {
  AuditEntry,
  FireCommand,
  FireResult,
  FireVerdict,
  NewRun,
  OccurrenceRecord,
  ScheduleRecord,
  ScheduleWish,
  SettledTime,
} from '../port.ts'
import { only } from './fixture.ts'
import type { World } from './world.ts'

export const MINUTE_MS = 60_000
const FAR_MS = 100 * 365 * 24 * 3_600_000

export function auditOf(world: World, action: string): AuditEntry {
  return {
    projectId: world.project,
    actor: 7,
    action,
    target: 'tidy-inbox',
    detail: null,
    request: null,
    address: null,
  }
}

/** A schedule whose first time is a minute from now. */
export function wishOf(world: World, overrides: Partial<ScheduleWish> = {}): ScheduleWish {
  const nominalAt = world.clock.now() + MINUTE_MS
  return {
    id: world.mint(),
    projectId: world.project,
    jobId: world.job,
    name: `rule-${world.mint()}`,
    spec: '{"rule":"every minute"}',
    next: { nominalAt, lookAt: nominalAt },
    expect: null,
    most: 1_000,
    ...overrides,
  }
}

export async function putNew(
  world: World,
  overrides: Partial<ScheduleWish> = {},
): Promise<ScheduleRecord> {
  const wish = wishOf(world, overrides)
  const fate = await world.store.putSchedule({ ...wish, audit: auditOf(world, 'schedule.put') })
  assert.deepEqual(fate, { kind: 'created', id: wish.id, version: 1 })
  return load(world, wish.id)
}

export async function load(world: World, id: number): Promise<ScheduleRecord> {
  return only(await world.store.findSchedules([id]))
}

export function toRun(
  world: World,
  nominalAt: number,
  overrides: Partial<NewRun> = {},
): Extract<SettledTime, { kind: 'run' }> {
  return {
    kind: 'run',
    nominalAt,
    run: world.newRun({ dueAt: nominalAt, ...overrides }),
    late: null,
  }
}

/** What a node that sees the schedule like this asks for: a run now, the next time a minute later. */
export function commandFor(
  world: World,
  schedule: ScheduleRecord,
  overrides: Partial<FireCommand> = {},
): FireCommand {
  const { nominalAt } = schedule.next
  const nextAt = (nominalAt ?? world.clock.now()) + MINUTE_MS
  return {
    id: schedule.id,
    version: schedule.version,
    nominalAt,
    settled: nominalAt === null ? [] : [toRun(world, nominalAt)],
    next: { nominalAt: nextAt, lookAt: nextAt },
    overlap: { kind: 'allow' },
    remembers: false,
    ...overrides,
  }
}

export async function fireAll(world: World, ...commands: FireCommand[]): Promise<FireResult> {
  const { node, store, clock } = world
  const valid = { validFrom: 0, validUntil: clock.now() + FAR_MS, aheadTo: null }
  return store.fire({ node, ...valid, commands })
}

export async function fireOne(world: World, command: FireCommand): Promise<FireVerdict> {
  return only((await fireAll(world, command)).verdicts)
}

/** Fires what it says is next, as far as its row moves on. */
export async function fireNext(
  world: World,
  id: number,
  overrides: Partial<FireCommand> = {},
): Promise<FireVerdict> {
  return fireOne(world, commandFor(world, await load(world, id), overrides))
}

export async function occurrencesOf(
  world: World,
  id: number,
): Promise<readonly OccurrenceRecord[]> {
  const range = { from: 0, until: world.clock.now() + FAR_MS, limit: 10_000 }
  return world.store.occurrences({ scheduleId: id, ...range })
}

/** What became of its times, in a few words. */
export async function storyOf(world: World, id: number): Promise<string[]> {
  const records = await occurrencesOf(world, id)
  return records.map(({ outcome, reason }) => (reason === null ? outcome : `${outcome} ${reason}`))
}
