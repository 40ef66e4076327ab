import type { System, SystemSettings } from './system.ts'

/** Imports only the requested system, so that the other systems' modules add neither memory nor start time. */
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
