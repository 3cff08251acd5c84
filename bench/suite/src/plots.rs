//! The plots of the report, as SVG: step times, throughput and CPU per request, idle connections.
//!
//! It must draw nothing for what was not measured, and say the unit on every axis.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::Outcome;
use crate::report::cell_name;
use crate::results::{Cell, Results, SHARES, Sample};
use crate::targets::FRAME_SCENARIOS;

const FONT: &str = "sans-serif";
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws into `folder` what `results` allow; gives the files with their titles.
pub fn draw(results: &Results, folder: &Path) -> Outcome<Vec<(String, String)>> {
    std::fs::create_dir_all(folder)?;
    let mut drawn = Vec::new();
    let mut add = |done: bool, file: &str, title: &str| {
        if done {
            drawn.push((file.to_owned(), title.to_owned()));
        }
    };
    let (file, title) = ("steps.svg", "Distribution of step times in each scenario");
    add(draw_steps(results, &folder.join(file))?, file, title);
    let (file, title) = ("requests.svg", "Throughput and CPU time per request");
    add(draw_requests(results, &folder.join(file))?, file, title);
    let (file, title) = ("idle.svg", "Cost of idle connections");
    add(draw_idle(results, &folder.join(file))?, file, title);
    Ok(drawn)
}

fn color(variant: &str) -> RGBColor {
    match variant {
        "app" => RGBColor(0, 98, 163),
        "app-tuned" => RGBColor(86, 170, 220),
        "plain" => RGBColor(196, 78, 12),
        "plain-tuned" => RGBColor(240, 160, 70),
        "baseline" => RGBColor(20, 120, 60),
        "baseline-tuned" => RGBColor(110, 190, 120),
        _ => RGBColor(130, 130, 130),
    }
}

/// Shares of steps on the horizontal axis, one place each: the tail is what matters.
const TICKS: [(f64, &str); 8] = [
    (0.05, "5 %"),
    (0.25, "25 %"),
    (0.5, "50 %"),
    (0.75, "75 %"),
    (0.9, "90 %"),
    (0.95, "95 %"),
    (0.99, "99 %"),
    (1.0, "longest"),
];
const FRAME_MS: f64 = crate::plan::FRAME_SECONDS * 1000.0;
const STEP_MS: std::ops::Range<f64> = 0.003..30.0;

/// The median over the repetitions at each tick, in milliseconds; the longest of all at the last.
fn step_points(cell: &Cell) -> Vec<(f64, f64)> {
    let at = |share: f64| {
        let wall = |sample: &Sample| sample.wall(share) / 1000.0;
        let value = if share == 1.0 {
            cell.worst(wall)
        } else {
            cell.median(wall)
        };
        value.clamp(STEP_MS.start, STEP_MS.end)
    };
    TICKS
        .iter()
        .enumerate()
        .map(|(place, (share, _))| (place as f64, at(*share)))
        .collect()
}

fn draw_steps(results: &Results, path: &Path) -> Outcome<bool> {
    debug_assert!(TICKS.iter().all(|(share, _)| SHARES.contains(share)));
    let scenarios: Vec<&str> = FRAME_SCENARIOS
        .iter()
        .copied()
        .filter(|name| {
            results
                .cells
                .iter()
                .any(|cell| cell.scenario == *name && cell.has_steps())
        })
        .collect();
    if scenarios.is_empty() {
        return Ok(false);
    }
    let root = SVGBackend::new(path, (1100, 960)).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.titled(
        "Time of one step at sixty frames a second, by share of steps",
        (FONT, 24),
    )?;
    let panels = root.split_evenly((3, 2));
    for (panel, scenario) in panels.iter().zip(&scenarios) {
        draw_step_panel(results, panel, scenario)?;
    }
    if let Some(panel) = panels.get(scenarios.len()) {
        let variants = ["app", "app-tuned", "plain", "plain-tuned", "baseline", "baseline-tuned"];
        let measured = |name: &&&str| {
            results
                .cells
                .iter()
                .any(|cell| cell.variant == **name && cell.has_steps())
        };
        let names: Vec<&str> = variants.iter().filter(measured).copied().collect();
        draw_legend(panel, &names)?;
    }
    root.present()?;
    Ok(true)
}

fn draw_step_panel(results: &Results, panel: &Area<'_>, scenario: &str) -> Outcome<()> {
    let mut chart = ChartBuilder::on(panel)
        .caption(scenario, (FONT, 18))
        .margin(8)
        .margin_right(28)
        .x_label_area_size(38)
        .y_label_area_size(58)
        .build_cartesian_2d(0.0..(TICKS.len() - 1) as f64, STEP_MS.log_scale())?;
    let share = |place: &f64| {
        TICKS
            .get(place.round() as usize)
            .map_or(String::new(), |(_, name)| (*name).to_owned())
    };
    chart
        .configure_mesh()
        .x_labels(TICKS.len())
        .x_label_formatter(&share)
        .y_label_formatter(&|value| format!("{value}"))
        .y_desc("step, ms")
        .label_style((FONT, 13))
        .light_line_style(RGBColor(238, 238, 238))
        .draw()?;
    let frame = [(0.0, FRAME_MS), ((TICKS.len() - 1) as f64, FRAME_MS)];
    chart.draw_series(DashedLineSeries::new(
        frame,
        6,
        4,
        RGBColor(110, 110, 110).stroke_width(1),
    ))?;
    for cell in results
        .cells
        .iter()
        .filter(|cell| cell.scenario == scenario && cell.has_steps())
    {
        if ["low", "app-luajit"].contains(&cell.variant.as_str()) {
            continue;
        }
        let points = step_points(cell);
        let style = color(&cell.variant).stroke_width(2);
        chart.draw_series(LineSeries::new(points.clone(), style))?;
        chart.draw_series(
            points
                .iter()
                .map(|&point| Circle::new(point, 3, color(&cell.variant).filled())),
        )?;
    }
    Ok(())
}

fn draw_legend(panel: &Area<'_>, variants: &[&str]) -> Outcome<()> {
    let text = (FONT, 16).into_font();
    for (row, variant) in variants.iter().enumerate() {
        let y = 60 + 28 * row as i32;
        let line = [(80, y), (130, y)];
        panel.draw(&PathElement::new(line.to_vec(), color(variant).stroke_width(3)))?;
        panel.draw(&Text::new(cell_name(variant), (142, y - 8), text.clone()))?;
    }
    let y = 60 + 28 * variants.len() as i32;
    let small = (FONT, 14).into_font();
    let lines = [
        "Wall clock. Medians of the repetitions; the longest of all of them.",
        "Default options unless tuned. Dashed: one frame of 1/60 s.",
    ];
    for (row, line) in lines.iter().enumerate() {
        panel.draw(&Text::new(*line, (80, y + 18 * row as i32), small.clone()))?;
    }
    Ok(())
}

/// One horizontal bar.
struct Bar {
    name: String,
    value: f64,
    text: String,
    color: RGBColor,
}

fn bars(results: &Results, scenario: &str, value: impl Fn(&Sample) -> f64, unit: &str) -> Vec<Bar> {
    let mut bars: Vec<Bar> = results
        .cells
        .iter()
        .filter(|cell| cell.scenario == scenario)
        .map(|cell| {
            let value = cell.median(&value);
            Bar {
                name: cell_name(&cell.variant).to_owned(),
                value,
                text: format!("{} {unit}", crate::tables::short(value)),
                color: color(&cell.variant),
            }
        })
        .collect();
    bars.sort_by(|a, b| a.value.total_cmp(&b.value));
    bars
}

fn draw_requests(results: &Results, path: &Path) -> Outcome<bool> {
    let panels = [
        ("capacity", "A connection per request"),
        ("capacity-keep-alive", "Keep-alive"),
    ];
    if !panels
        .iter()
        .any(|(scenario, _)| results.cells.iter().any(|cell| cell.scenario == *scenario))
    {
        return Ok(false);
    }
    let root = SVGBackend::new(path, (1100, 720)).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.titled("64 clients, as fast as it goes, one core for the server", (FONT, 24))?;
    let areas = root.split_evenly((2, 2));
    for (row, (scenario, title)) in panels.iter().enumerate() {
        let mut rates = bars(results, scenario, |sample| sample.per_second / 1000.0, "k/s");
        rates.reverse();
        draw_bars(
            &areas[2 * row],
            &format!("{title}: thousand answers per second"),
            &rates,
        )?;
        let costs = bars(results, scenario, |sample| sample.cpu_us, "µs");
        draw_bars(&areas[2 * row + 1], &format!("{title}: CPU µs per request"), &costs)?;
    }
    root.present()?;
    Ok(true)
}

/// Bars on a linear scale from zero, so that lengths compare; each with its figure.
fn draw_bars(area: &Area<'_>, title: &str, bars: &[Bar]) -> Outcome<()> {
    const LEFT: i32 = 230;
    const RIGHT: i32 = 90;
    const TOP: i32 = 36;
    area.draw(&Text::new(title.to_owned(), (16, 6), (FONT, 17).into_font()))?;
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (width as i32 - LEFT - RIGHT, height as i32 - TOP - 8);
    let most = bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
    let pitch = (height / bars.len().max(1) as i32).min(30);
    let font = (FONT, 14).into_font();
    for (row, bar) in bars.iter().enumerate() {
        let y = TOP + pitch * row as i32;
        let end = LEFT + (f64::from(width) * bar.value / most).round() as i32;
        area.draw(&Rectangle::new(
            [(LEFT, y + 2), (end.max(LEFT + 1), y + pitch - 4)],
            bar.color.filled(),
        ))?;
        area.draw(&Text::new(bar.name.clone(), (16, y + pitch / 2 - 8), font.clone()))?;
        area.draw(&Text::new(bar.text.clone(), (end + 6, y + pitch / 2 - 8), font.clone()))?;
    }
    Ok(())
}

fn draw_idle(results: &Results, path: &Path) -> Outcome<bool> {
    if results.idle.is_empty() {
        return Ok(false);
    }
    let root = SVGBackend::new(path, (1100, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.titled("Connections that were served once and are silent", (FONT, 24))?;
    let (left, right) = root.split_horizontally(550);
    let names: Vec<String> = results.idle.iter().map(|row| row.connections.to_string()).collect();
    let steps: Vec<f64> = results.idle.iter().map(|row| row.ns_per_step).collect();
    draw_curve(&left, "Time of one step, ns", &names, &steps)?;
    let busy: Vec<_> = results.idle.iter().filter(|row| row.connections > 0).collect();
    let names: Vec<String> = busy.iter().map(|row| row.connections.to_string()).collect();
    let bytes: Vec<f64> = busy.iter().map(|row| row.bytes_per_connection).collect();
    draw_curve(&right, "Memory per connection, bytes", &names, &bytes)?;
    root.present()?;
    Ok(true)
}

/// A value for each name, from one power of ten to another.
fn draw_curve(area: &Area<'_>, title: &str, names: &[String], values: &[f64]) -> Outcome<()> {
    let positive = values.iter().copied().filter(|value| *value > 0.0);
    let least = positive.clone().fold(f64::INFINITY, f64::min).min(1e12);
    let most = positive.fold(1.0, f64::max);
    let range = 10f64.powf(least.max(1.0).log10().floor())..10f64.powf((most * 1.01).log10().ceil());
    let floor = range.start;
    let points: Vec<(f64, f64)> = values
        .iter()
        .enumerate()
        .map(|(place, value)| (place as f64, value.max(floor)))
        .collect();
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 18))
        .margin(10)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(-0.4..names.len() as f64 - 0.6, range.log_scale())?;
    let name = |place: &f64| {
        let whole = place.round();
        let near = (place - whole).abs() < 0.01 && whole >= 0.0;
        if near {
            names.get(whole as usize).cloned().unwrap_or_default()
        } else {
            String::new()
        }
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(names.len() * 2)
        .x_label_formatter(&name)
        .y_label_formatter(&|value| format!("{value}"))
        .x_desc("open connections")
        .label_style((FONT, 14))
        .light_line_style(RGBColor(238, 238, 238))
        .draw()?;
    chart.draw_series(LineSeries::new(points.clone(), color("app").stroke_width(2)))?;
    chart.draw_series(points.iter().map(|&point| Circle::new(point, 4, color("app").filled())))?;
    let labels = points.iter().zip(values).map(|(&(x, y), value)| {
        EmptyElement::at((x, y)) + Text::new(crate::tables::short(*value), (6, -18), (FONT, 14).into_font())
    });
    chart.draw_series(labels)?;
    Ok(())
}
