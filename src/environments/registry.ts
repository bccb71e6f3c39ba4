import type { Environment, EnvironmentName } from './environment.ts';
import { RoomsEnvironment } from './rooms/environment.ts';
import { ShopEnvironment } from './shop/environment.ts';

/** A fresh environment; `reset` it before use. */
export function openEnvironment(name: EnvironmentName): Environment {
  switch (name) {
    case 'rooms':
      return new RoomsEnvironment();
    case 'shop':
      return new ShopEnvironment();
  }
}
