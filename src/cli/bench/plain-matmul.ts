/**
 * The yardstick of `engine.gemm`: plain f32 matrix products, nothing else in the kernel, at every shape that a training step
 * multiplies, each with the tile that is fastest there.
 */
import type { GpuBuffer } from '../../gpu/buffer.ts';
import type { Gpu } from '../../gpu/device.ts';
import type { Kernel } from '../../gpu/kernel.ts';
import { Program, type Dispatch } from '../../gpu/program.ts';
import type { ModelSession } from '../../gpu/session.ts';
import type { Prepared } from './workload.ts';

/** y [rows, columns] = x [rows, inner] · w [columns, inner]ᵀ. */
interface Shape {
  readonly rows: number;
  readonly inner: number;
  readonly columns: number;
}

const tiles = [
  [8, 8],
  [16, 4],
  [4, 4],
] as const;

const plain: Kernel = {
  name: 'plain-matmul',
  source: `
struct Parameters { rows: u32, fours: u32, columns: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let tileColumn = (workgroup.x * WORKGROUP + local) * COLUMNS;
  let tileRow = workgroup.y * ROWS;
  if (tileColumn >= parameters.columns) { return; }
#unroll i ROWS
  let row{i} = min(tileRow + {i}u, parameters.rows - 1u);
#end
#unroll j COLUMNS
  let column{j} = min(tileColumn + {j}u, parameters.columns - 1u);
#end
#unroll i ROWS
#unroll j COLUMNS
  var sum{i}_{j} = 0.0;
#end
#end
  for (var k = 0u; k < parameters.fours; k++) {
#unroll i ROWS
    let x{i} = x[row{i} * parameters.fours + k];
#end
#unroll j COLUMNS
    {
      let v = w[column{j} * parameters.fours + k];
#unroll i ROWS
      sum{i}_{j} += dot(x{i}, v);
#end
    }
#end
  }
#unroll i ROWS
#unroll j COLUMNS
  y[row{i} * parameters.columns + column{j}] = sum{i}_{j};
#end
#end
}
`,
};

function plainProduct(
  { rows, inner, columns }: Shape,
  [tileRows, tileColumns]: readonly [number, number],
  buffers: Record<'x' | 'w' | 'y', GpuBuffer>,
): Dispatch {
  const columnTiles = Math.ceil(columns / tileColumns);
  const workgroup = columnTiles <= 8 ? 8 : columnTiles <= 16 ? 16 : 64;
  return {
    kernel: plain,
    constants: { WORKGROUP: workgroup, ROWS: tileRows, COLUMNS: tileColumns },
    bindings: buffers,
    parameters: { rows, fours: Math.ceil(inner / 4), columns },
    workgroups: () => [Math.ceil(columnTiles / workgroup), Math.ceil(rows / tileRows), 1],
    work: () => 2 * rows * inner * columns,
  };
}

async function timed(gpu: Gpu, program: Program): Promise<number> {
  const start = performance.now();
  program.run();
  await gpu.idle();
  return performance.now() - start;
}

/** GFLOP/s of a training step's matrix products, run one behind the other without the rest of the step. */
export async function productsOf(
  gpu: Gpu,
  trainer: { session: ModelSession; step(): Promise<number> },
): Promise<Prepared> {
  await trainer.step();
  const products = trainer.session.products();
  const program = new Program(
    gpu,
    'products',
    products.map(({ dispatch }) => dispatch),
  );
  const work = products.reduce((sum, { dispatch }) => sum + dispatch.work!(), 0);
  return {
    run: async () => work / (await timed(gpu, program)) / 1e6,
    dispose: () => {
      program.destroy();
      trainer.session.destroy();
    },
  };
}

/** The same products as plain kernels. */
export async function bestPlainProducts(
  gpu: Gpu,
  trainer: { session: ModelSession; step(): Promise<number> },
): Promise<Prepared> {
  await trainer.step();
  const shapes = trainer.session.products().map(({ shape }): Shape => shape());
  const largest = (size: (shape: Shape) => number) => Math.max(...shapes.map(size)) * 4;
  const pad = (inner: number) => Math.ceil(inner / 4) * 4;
  const buffers = {
    x: gpu.buffer(
      'x',
      largest(({ rows, inner }) => rows * pad(inner)),
    ),
    w: gpu.buffer(
      'w',
      largest(({ columns, inner }) => columns * pad(inner)),
    ),
    y: gpu.buffer(
      'y',
      largest(({ rows, columns }) => rows * columns),
    ),
  };
  const chosen = new Map<string, Dispatch>();
  for (const shape of shapes) {
    const key = JSON.stringify(shape);
    if (chosen.has(key)) continue;
    let best = Infinity;
    for (const tile of tiles) {
      const dispatch = plainProduct(shape, tile, buffers);
      const program = new Program(gpu, 'candidate', new Array<Dispatch>(4).fill(dispatch));
      await timed(gpu, program);
      const time = Math.min(await timed(gpu, program), await timed(gpu, program), await timed(gpu, program));
      program.destroy();
      if (time < best) {
        best = time;
        chosen.set(key, dispatch);
      }
    }
  }
  const dispatches = shapes.map((shape) => chosen.get(JSON.stringify(shape))!);
  const program = new Program(gpu, 'plain products', dispatches);
  const work = dispatches.reduce((sum, dispatch) => sum + dispatch.work!(), 0);
  return {
    run: async () => work / (await timed(gpu, program)) / 1e6,
    dispose: () => {
      program.destroy();
      for (const buffer of Object.values(buffers)) buffer.destroy();
    },
  };
}
