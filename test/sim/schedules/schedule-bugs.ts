import type { FireBatch, ScheduleRecord, Store } from '../../../src/store/port.ts'
import type { ScheduleBug } from './schedule-world.ts'

/** The same store with another `fire`. */
function withFire(fire: (batch: FireBatch, original: Store) => ReturnType<Store['fire']>) {
  return (original: Store): Store =>
    new Proxy(original, {
      get: (target, verb: string) =>
        verb === 'fire'
          ? (batch: FireBatch) => fire(batch, original)
          : (Reflect.get(target, verb) as unknown),
    })
}

const atAnyTime = withFire((batch, original) =>
  original.fire({ ...batch, validFrom: 0, validUntil: Number.MAX_SAFE_INTEGER }),
)

/** The same store, but reads hide every pause. */
function ignoresPauses(original: Store): Store {
  const unpaused = (schedules: readonly ScheduleRecord[]) =>
    schedules.map((schedule) => ({ ...schedule, pause: null }))
  return {
    ...original,
    findSchedules: async (ids) => unpaused(await original.findSchedules(ids)),
    dueSchedules: async (input) => unpaused(await original.dueSchedules(input)),
  }
}

const withCommands = (
  { commands, ...batch }: FireBatch,
  change: (command: FireBatch['commands'][number]) => FireBatch['commands'][number],
): FireBatch => ({ ...batch, commands: commands.map(change) })

/** Historic bugs of schedulers. Each is planted from outside, so the product contains none of them. */
export const SCHEDULE_BUGS: readonly ScheduleBug[] = [
  {
    name: 'a schedule in memory fires although it was edited',
    store: (original, db) => {
      const version = db.prepare<[number], number>('SELECT version FROM schedule WHERE id = ?')
      return withFire((batch) =>
        original.fire(
          withCommands(batch, (command) => ({
            ...command,
            version: version.pluck().get(command.id) ?? command.version,
          })),
        ),
      )(original)
    },
  },
  {
    name: 'a run fired ahead is assigned at once',
    store: withFire(async (batch, original) => ({ ...(await original.fire(batch)), aheadMs: 0 })),
  },
  {
    name: 'missed times are forgotten',
    store: withFire((batch, original) =>
      original.fire(
        withCommands(batch, (command) => ({
          ...command,
          settled: command.settled.filter(({ kind }) => kind === 'run'),
        })),
      ),
    ),
  },
  {
    name: 'a firing plan is applied at any time',
    firstSeed: 11,
    // A store that knows the time the node expects refuses the plan too, so the node must not pass it on.
    store: (original) =>
      new Proxy(atAnyTime(original), {
        get: (target, verb: string) =>
          verb === 'expectClock' ? () => {} : (Reflect.get(target, verb) as unknown),
      }),
  },
  {
    name: 'overlapping runs are tracked by the node, not by the store',
    store: withFire((batch, original) =>
      original.fire(withCommands(batch, (command) => ({ ...command, tracksOpenRuns: false }))),
    ),
  },
  {
    name: 'the next time is counted from now, not from the last',
    store: withFire((batch, original) =>
      original.fire(
        withCommands(batch, (command) => {
          const { nominalAt, checkAt } = command.next
          if (nominalAt === null || checkAt === null) return command
          return { ...command, next: { nominalAt: nominalAt + 1, checkAt: checkAt + 1 } }
        }),
      ),
    ),
  },
  {
    name: 'times within a pause are made up for',
    store: ignoresPauses,
  },
  {
    name: 'the end of a run advances a paused schedule that follows it',
    store: (original, db) => {
      const unpause = db.prepare<[number]>(
        `UPDATE schedule SET paused_at = NULL, paused_until = NULL WHERE id = ? AND look_at IS NOT NULL`,
      )
      return withFire((batch, store) => {
        for (const { id, nominalAt } of batch.commands) if (nominalAt === null) unpause.run(id)
        return store.fire(batch)
      })(ignoresPauses(original))
    },
  },
  {
    name: 'a clock that goes back leaves schedules where they were',
    firstSeed: 14,
    store: (original) => ({ ...original, rewindSchedules: async () => 0 }),
  },
]
