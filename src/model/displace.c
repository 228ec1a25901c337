/* SPDX-License-Identifier: MIT */
#include "detector.h"

static int is_changed(const nb_place_change *c)
{
    for (int i = 0; i < 3; i++)
        if (c->shift[i] != 0 || c->along[i] != 0 || c->turn[i] != 0)
            return 1;
    return 0;
}

int nb_is_displaced(const nb_displacement *moved)
{
    const double *r = moved->rot;
    int k = 0;
    while (moved->panels && k < moved->n_panels && !is_changed(&moved->panels[k]))
        k++;
    return r[0] != 0 || r[1] != 0 || r[2] != 0 || is_changed(&moved->whole) ||
           (moved->panels && k < moved->n_panels);
}

nb_vec3 nb_turn(nb_vec3 w, nb_vec3 v)
{
    double angle = nb_norm(w);
    return angle > 0 ? nb_rotate_about(v, nb_scale(1 / angle, w), angle) : v;
}

nb_vec3 nb_turn_rate(nb_vec3 w, nb_vec3 e)
{
    double t2 = nb_dot(w, w), t = sqrt(t2), half = sin(t / 2), a, b;
    nb_vec3 once = nb_cross(w, e);
    if (t < 1e-2) {
        a = 0.5 - t2 / 24 * (1 - t2 / 30);
        b = 1.0 / 6 - t2 / 120 * (1 - t2 / 42);
    } else {
        a = 2 * half * half / t2;
        b = (t - sin(t)) / (t2 * t);
    }
    return nb_add(e, nb_add(nb_scale(a, once), nb_scale(b, nb_cross(w, once))));
}

nb_vec3 nb_along_axes(const nb_body *body, const double x[3])
{
    return nb_add(nb_scale(x[0], body->axis[0]),
                  nb_add(nb_scale(x[1], body->axis[1]), nb_scale(x[2], body->axis[2])));
}

static nb_vec3 shift_of(const nb_place_change *change, const nb_body *body)
{
    const double *s = change->shift;
    return nb_add(nb_v3(s[0], s[1], s[2]), nb_along_axes(body, change->along));
}

void nb_displace(const nb_displacement *moved, int k, const nb_body *body,
                 const nb_body *own, nb_body *place)
{
    nb_vec3 whole = nb_along_axes(body, moved->whole.turn), panel = {0, 0, 0};
    nb_vec3 shift = shift_of(&moved->whole, body);
    if (moved->panels && k < moved->n_panels) {
        panel = nb_along_axes(own, moved->panels[k].turn);
        shift = nb_add(shift, shift_of(&moved->panels[k], own));
    }
    for (int i = 0; i < 3; i++)
        place->axis[i] = nb_turn(whole, nb_turn(panel, place->axis[i]));
    place->origin = nb_add(
        nb_add(body->origin, nb_turn(whole, nb_sub(place->origin, body->origin))), shift);
}
