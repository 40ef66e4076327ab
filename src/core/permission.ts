/** The permissions that routes require. Each route declares exactly one. */
export const PERMISSIONS = ['read', 'operate', 'define', 'administer', 'work'] as const
export type Permission = (typeof PERMISSIONS)[number]

/**
 * `viewer` reads. `operator` runs, cancels, retries and pauses existing jobs. `admin` also defines jobs and access: a
 * caller who can send a command can do anything that the workers can, so operators must not. `worker` only executes
 * runs.
 */
export const ROLES = ['viewer', 'operator', 'admin', 'worker'] as const
export type Role = (typeof ROLES)[number]

const GRANTS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  operator: ['read', 'operate'],
  admin: PERMISSIONS,
  worker: ['work'],
}

export function hasPermission(role: Role, permission: Permission): boolean {
  return GRANTS[role].includes(permission)
}
