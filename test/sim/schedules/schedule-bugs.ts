import type { FireBatch, ScheduleRecord, Store } from '../../../src/store/port.ts'
import type { TimeBug } from './schedule-world.ts'

/** The same store with another way to fire. */
function firing(fire: (batch: FireBatch, honest: Store) => ReturnType<Store['fire']>) {
  return (honest: Store): Store =>
    new Proxy(honest, {
      get: (target, verb: string) =>
        verb === 'fire'
          ? (batch: FireBatch) => fire(batch, honest)
          : (Reflect.get(target, verb) as unknown),
    })
}

/** The same store, as those see it who know of no pauses. */
function blindToPauses(honest: Store): Store {
  const unpaused = (schedules: readonly ScheduleRecord[]) =>
    schedules.map((schedule) => ({ ...schedule, pause: null }))
  return {
    ...honest,
    findSchedules: async (ids) => unpaused(await honest.findSchedules(ids)),
    dueSchedules: async (input) => unpaused(await honest.dueSchedules(input)),
  }
}

const withCommands = (
  { commands, ...batch }: FireBatch,
  change: (command: FireBatch['commands'][number]) => FireBatch['commands'][number],
): FireBatch => ({ ...batch, commands: commands.map(change) })

/** Where schedulers went wrong, each planted from outside so that the product carries none of it. */
export const TIME_BUGS: readonly TimeBug[] = [
  {
    name: 'a schedule in memory fires although it was edited',
    store: (honest, db) => {
      const version = db.prepare<[number], number>('SELECT version FROM schedule WHERE id = ?')
      return firing((batch) =>
        honest.fire(
          withCommands(batch, (command) => ({
            ...command,
            version: version.pluck().get(command.id) ?? command.version,
          })),
        ),
      )(honest)
    },
  },
  {
    name: 'what is durable before its time is handed over at once',
    store: firing(async (batch, honest) => ({ ...(await honest.fire(batch)), aheadMs: 0 })),
  },
  {
    name: 'what was missed is forgotten',
    store: firing((batch, honest) =>
      honest.fire(
        withCommands(batch, (command) => ({
          ...command,
          settled: command.settled.filter(({ kind }) => kind === 'run'),
        })),
      ),
    ),
  },
  {
    name: 'a plan is carried out whenever it arrives',
    store: firing((batch, honest) =>
      honest.fire({ ...batch, validFrom: 0, validUntil: Number.MAX_SAFE_INTEGER }),
    ),
  },
  {
    name: 'who overlaps is remembered by the node, not by the store',
    store: firing((batch, honest) =>
      honest.fire(withCommands(batch, (command) => ({ ...command, remembers: false }))),
    ),
  },
  {
    name: 'the next time is counted from now, not from the last',
    store: firing((batch, honest) =>
      honest.fire(
        withCommands(batch, (command) => {
          const { nominalAt, lookAt } = command.next
          if (nominalAt === null || lookAt === null) return command
          return { ...command, next: { nominalAt: nominalAt + 1, lookAt: lookAt + 1 } }
        }),
      ),
    ),
  },
  {
    name: 'what comes while it is paused is made up for',
    store: blindToPauses,
  },
  {
    name: 'who sees a run end moves on what waits for it, paused or not',
    store: (honest, db) => {
      const unpause = db.prepare<[number]>(
        `UPDATE schedule SET paused_at = NULL, paused_until = NULL WHERE id = ? AND look_at IS NOT NULL`,
      )
      return firing((batch, store) => {
        for (const { id, nominalAt } of batch.commands) if (nominalAt === null) unpause.run(id)
        return store.fire(batch)
      })(blindToPauses(honest))
    },
  },
]
