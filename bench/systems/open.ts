import type { System, SystemSettings } from './system.ts'

/** Loads only the system that is asked for: the others' modules would show in its memory and time. */
export async function openSystem(settings: SystemSettings): Promise<System> {
  const { system, store, purpose, shape = 'plain' } = settings
  switch (system) {
    case 'graphile':
      return (await import('./graphile.ts')).openGraphile(store, purpose)
    case 'pg-boss':
      return (await import('./pg-boss.ts')).openPgBoss(store, purpose)
    case 'punctual-http':
      return (await import('./punctual-http.ts')).openPunctualHttp(store, purpose)
    case 'punctual-in-process':
      return (await import('./punctual-in-process.ts')).openPunctualInProcess(store, purpose, shape)
  }
}
