// The two software adapters that stand in for a GPU in tests, and what Node and Chromium need to reach each.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

// SwiftShader's Vulkan driver comes with the browser; where it lies differs between packages.
const swiftShaderManifest = [
  process.env.SWIFTSHADER_ICD,
  process.env.CHROMIUM_PATH && join(dirname(process.env.CHROMIUM_PATH), 'vk_swiftshader_icd.json'),
  '/usr/lib/chromium/vk_swiftshader_icd.json',
  '/usr/lib64/chromium-browser/vk_swiftshader_icd.json',
  '/opt/google/chrome/vk_swiftshader_icd.json',
].find((path) => path && existsSync(path));

// The Vulkan loader that Dawn opens: browsers bring one beside their driver, which serves where the system has none.
const vulkanLoader =
  swiftShaderManifest && existsSync(join(dirname(swiftShaderManifest), 'libvulkan.so.1'))
    ? {
        LD_LIBRARY_PATH: [process.env.LD_LIBRARY_PATH, dirname(swiftShaderManifest)].filter(Boolean).join(':'),
      }
    : {};

const runtimeFolder = { XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? '/tmp' };

export const softwareAdapters = {
  chromiumFlags: [
    '--no-sandbox',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--enable-unsafe-webgpu',
  ],
  swiftshader: {
    chromiumFlags: ['--use-webgpu-adapter=swiftshader'],
    /** @type {Record<string, string>} */
    env: {
      ...runtimeFolder,
      ...vulkanLoader,
      ...(swiftShaderManifest ? { VK_DRIVER_FILES: swiftShaderManifest } : {}),
    },
  },
  llvmpipe: {
    chromiumFlags: ['--use-webgpu-adapter=opengles', '--use-gl=angle', '--use-angle=gl-egl', '--ignore-gpu-blocklist'],
    /** @type {Record<string, string>} */
    env: { ...runtimeFolder, EGL_PLATFORM: 'surfaceless', LIBGL_ALWAYS_SOFTWARE: '1' },
  },
};
