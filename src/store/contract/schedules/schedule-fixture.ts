import assert from 'node:assert/strict'
import type {
  AuditEntry,
  FireCommand,
  FireResult,
  FireVerdict,
  NewRun,
  OccurrenceRecord,
  ScheduleRecord,
  PutScheduleInput,
  SettledTime,
} from '../../port.ts'
import { only } from '../fixture.ts'
import type { StoreWorld } from '../world.ts'

export const MINUTE_MS = 60_000
const FAR_MS = 100 * 365 * 24 * 3_600_000

export function auditOf(world: StoreWorld, action: string): AuditEntry {
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
export function scheduleInput(
  world: StoreWorld,
  overrides: Partial<PutScheduleInput> = {},
): PutScheduleInput {
  const nominalAt = world.clock.now() + MINUTE_MS
  return {
    id: world.mint(),
    projectId: world.project,
    jobId: world.job,
    name: `rule-${world.mint()}`,
    spec: '{"rule":"every minute"}',
    next: { nominalAt, checkAt: nominalAt },
    expect: null,
    maxSchedules: 1_000,
    ...overrides,
  }
}

export async function putNew(
  world: StoreWorld,
  overrides: Partial<PutScheduleInput> = {},
): Promise<ScheduleRecord> {
  const input = scheduleInput(world, overrides)
  const result = await world.store.putSchedule({ ...input, audit: auditOf(world, 'schedule.put') })
  assert.deepEqual(result, { kind: 'created', id: input.id, version: 1 })
  return load(world, input.id)
}

export async function load(world: StoreWorld, id: number): Promise<ScheduleRecord> {
  return only(await world.store.findSchedules([id]))
}

export function toRun(
  world: StoreWorld,
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

/**
 * The command of a node that sees the schedule like this: a run now, the next time a minute later.
 */
export function commandFor(
  world: StoreWorld,
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
    next: { nominalAt: nextAt, checkAt: nextAt },
    overlap: { kind: 'allow' },
    tracksOpenRuns: false,
    ...overrides,
  }
}

export async function fireAll(world: StoreWorld, ...commands: FireCommand[]): Promise<FireResult> {
  const { node, store, clock } = world
  const valid = { validFrom: 0, validUntil: clock.now() + FAR_MS, aheadTo: null }
  return store.fire({ node, ...valid, commands })
}

export async function fireOne(world: StoreWorld, command: FireCommand): Promise<FireVerdict> {
  return only((await fireAll(world, command)).verdicts)
}

/** Fires with the command of a node that has just read the schedule. */
export async function fireNext(
  world: StoreWorld,
  id: number,
  overrides: Partial<FireCommand> = {},
): Promise<FireVerdict> {
  return fireOne(world, commandFor(world, await load(world, id), overrides))
}

export async function occurrencesOf(
  world: StoreWorld,
  id: number,
): Promise<readonly OccurrenceRecord[]> {
  const range = { from: 0, until: world.clock.now() + FAR_MS, limit: 10_000 }
  return world.store.occurrences({ scheduleId: id, ...range })
}

/** The outcomes of its times, as short texts. */
export async function outcomesOf(world: StoreWorld, id: number): Promise<string[]> {
  const records = await occurrencesOf(world, id)
  return records.map(({ outcome, reason }) => (reason === null ? outcome : `${outcome} ${reason}`))
}
